import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { namesAlibaba, readAlibabaTopology } from '../../../../src/simulator/alibaba/alibaba-topology.ts';

const networks = `
vpcs: [{ name: main, blocks: [10.0.0.0/16] }]
vSwitches: [{ name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]`;

function problemsOf(text: string): readonly string[] {
  const read = readAlibabaTopology(`cloud: alibabacloud\n${text}`);
  return 'problems' in read ? read.problems : [];
}

describe('a topology of Alibaba Cloud', () => {
  test('is one that says so', () => {
    expect(namesAlibaba('cloud: alibabacloud')).toBe(true);
    expect(namesAlibaba('cloud: azure')).toBe(false);
  });

  test('can be the example', () => {
    const text = readFileSync('src/simulator/alibaba/examples/small.yaml', 'utf8');
    expect(readAlibabaTopology(text)).toHaveProperty('topology');
  });

  test.each([
    ['', 'vpcs: expected array'],
    [
      `${networks}\ninstances: [{ name: i, type: m5.large, vSwitch: a }]`,
      'instances[0].type: expected one of the instance types of ecs-instance-types.ts, found "m5.large"',
    ],
    [
      `${networks}\ninstances: [{ name: i, type: ecs.g7.large, vSwitch: b }]`,
      'instances[0].vSwitch: expected one of a, found "b"',
    ],
    [
      `${networks}\ninstances: [{ name: i, type: ecs.g7.large, vSwitch: a, securityGroups: [x] }]`,
      'instances[0].securityGroups[0]: expected one of (none), found "x"',
    ],
    [
      `${networks}\ninstances: [{ name: i, type: ecs.g7.large, vSwitch: a, interfaces: [{}, {}, {}] }]`,
      'instances[0].interfaces: expected at most 2 for ecs.g7.large, found 3',
    ],
    [
      `${networks}\ninstances: [{ name: i, type: ecs.g7.large, vSwitch: a, interfaces: [{ addresses: 6 }] }]`,
      'instances[0].interfaces[0].addresses: expected at most 5 for ecs.g7.large, found 6',
    ],
    [
      `${networks}\ninstances: [{ id: i-1, name: i, type: ecs.g7.large, vSwitch: a, count: 2 }]`,
      'instances[0].count: expected 1 where an id is given, found 2',
    ],
    [
      'vpcs: [{ name: v, blocks: [10.0.0.0/16] }]\nvSwitches: [{ name: a, zone: cn-beijing-a, block: 10.1.0.0/24 }]',
      'vSwitches[0].zone: expected a zone of cn-hangzhou, found "cn-beijing-a"',
    ],
    [
      'vpcs: [{ name: v, blocks: [10.0.0.0/16] }]\nvSwitches: [{ name: a, zone: cn-hangzhou-a, block: 10.1.0.0/24 }]',
      'vSwitches[0].block: expected a part of 10.0.0.0/16, found "10.1.0.0/24"',
    ],
    [
      networks.replace(/\]$/, ', { name: a, zone: cn-hangzhou-a, block: 10.0.0.0/25 }]'),
      'vSwitches[1].block: expected no overlap with vSwitch a (10.0.0.0/24), found "10.0.0.0/25"',
    ],
    [`${networks}\nfrobnicate: 1`, 'unknown key "frobnicate"'],
  ])('is refused for %j', (text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem);
  });
});
