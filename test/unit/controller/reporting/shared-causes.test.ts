import { describe, expect, test } from '@jest/globals';
import { maxNodesReported, SharedCauses } from '../../../../src/controller/reporting/shared-causes.ts';
import type { NodeCondition } from '../../../../src/node/conditions/node-condition.ts';

const full: NodeCondition = { reason: 'SubnetsExhausted', message: 'subnet-1 is full' };
const other: NodeCondition = { reason: 'SubnetsExhausted', message: 'subnet-2 is full' };

const names = Array.from({ length: 2000 }, (_, index) => `node-${index}`);

describe('a cause that many nodes have', () => {
  test('is one log line, Events on some nodes and one for the fleet', () => {
    const causes = new SharedCauses();

    const reported = names.map((name) => causes.beginCause(name, full));

    expect(reported.filter(({ isFirst }) => isFirst)).toHaveLength(1);
    expect(reported.filter(({ onNode }) => onNode)).toHaveLength(maxNodesReported);
    expect(reported.filter(({ onCluster }) => onCluster)).toHaveLength(1);
    expect(reported[0]).toEqual({ isFirst: true, onNode: true, onCluster: false, clusterEnded: false });
  });

  test('is resolved on each node that has an Event, and for the fleet with the last node', () => {
    const causes = new SharedCauses();
    for (const name of names) causes.beginCause(name, full);

    const ended = names.map((name) => causes.end(name));

    expect(ended.filter(({ onNode }) => onNode)).toHaveLength(maxNodesReported);
    expect(ended.findIndex(({ onCluster }) => onCluster)).toBe(names.length - 1);
    expect(causes.beginCause('later', full)).toEqual({
      isFirst: true,
      onNode: true,
      onCluster: false,
      clusterEnded: false,
    });
  });

  test('is resolved for the fleet also if its last node gets another one', () => {
    const causes = new SharedCauses();
    for (const name of ['a', 'b']) causes.beginCause(name, full);

    const ended = ['a', 'a', 'b', 'b'].map((name) => causes.beginCause(name, other).clusterEnded);

    expect(ended).toEqual([false, false, true, false]);
  });

  test.each<[NodeCondition['reason'], (name: string) => string]>([
    ['WriteRefused', (name) => `ciliumnodes.cilium.io "${name}" is forbidden`],
    ['InstanceNotManaged', (name) => `instance i-0000000${name.at(-1)} does not carry the tags of --x`],
    ['InstanceNotManaged', (name) => `instance /subscriptions/s/virtualmachines/${name.at(-1)} is outside`],
  ])(
    'is the same one if its texts differ only by the name of the node or its instance: %s',
    (reason, textOf) => {
      const causes = new SharedCauses();

      const reported = ['ip-1', 'ip-2', 'ip-3'].map((name) =>
        causes.beginCause(name, { reason, message: textOf(name) }),
      );

      expect(reported.map(({ isFirst }) => isFirst)).toEqual([true, false, false]);
      expect(reported.map(({ onCluster }) => onCluster)).toEqual([false, true, false]);
    },
  );

  test('is another one if its text differs, and a node has one at a time', () => {
    const causes = new SharedCauses();
    causes.beginCause('a', full);

    expect(causes.beginCause('b', other)).toEqual({
      isFirst: true,
      onNode: true,
      onCluster: false,
      clusterEnded: false,
    });
    expect(causes.beginCause('b', full)).toEqual({
      isFirst: false,
      onNode: true,
      onCluster: true,
      clusterEnded: false,
    });
    expect(causes.end('b')).toEqual({ onNode: true, onCluster: false });
    expect(causes.end('b')).toEqual({ onNode: false, onCluster: false });
  });
});
