import { describe, expect, test } from '@jest/globals';
import {
  alibabaTopology,
  policyOfHeadwater,
} from '../../../../src/commands/demo/alibaba/alibaba-topology.ts';
import { ramPermissions } from '../../../support/ram-policy.ts';

describe('the Alibaba Cloud of the demonstration', () => {
  test.each([4, 5, 10, 50, 100])('has %d nodes, two of them with a small vSwitch for pods', (nodes) => {
    const { instances } = alibabaTopology(nodes, 'x');

    expect(instances).toHaveLength(nodes);
    expect(instances.filter(({ vSwitch }) => vSwitch === 'nodes-c')).toHaveLength(2);
  });

  test('allows the controller what docs/ram-policy.json lists, and nothing else', () => {
    const { credentials } = alibabaTopology(4, 'x');

    expect(policyOfHeadwater).toEqual(ramPermissions);
    expect(credentials.map(({ actions }) => actions)).toEqual([ramPermissions]);
  });
});
