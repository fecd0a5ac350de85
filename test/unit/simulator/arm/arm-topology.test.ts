import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { namesAzure, readArmTopology } from '../../../../src/simulator/arm/arm-topology.ts';

const networks =
  'virtualNetworks: [{ name: v, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]';

function problemsOf(text: string): readonly string[] {
  const read = readArmTopology(`cloud: azure\n${text}`);
  return 'problems' in read ? read.problems : [];
}

describe('a topology of Azure', () => {
  test('is one that says so', () => {
    expect(namesAzure('cloud: azure')).toBe(true);
    expect(namesAzure('vpcs: []')).toBe(false);
    expect(namesAzure('[')).toBe(false);
  });

  test('can be the example', () => {
    const text = readFileSync('src/simulator/arm/examples/small.yaml', 'utf8');
    expect(readArmTopology(text)).toHaveProperty('topology');
  });

  test.each([
    ['', 'virtualNetworks: Invalid input: expected array'],
    [`${networks}\nscaleSets: [{ name: s, interfaces: [] }]`, 'expected at least one interface'],
    [
      `${networks}\nscaleSets: [{ name: s, interfaces: [{ name: n, subnet: b }] }]`,
      'scaleSets[0].interfaces[0].subnet: expected one of v/a, found "b"',
    ],
    [
      `${networks}\nmachines: [{ name: s, group: other, interfaces: [{ name: n, subnet: a }] }]`,
      'machines[0].group: expected one of nodes, found "other"',
    ],
    [
      'virtualNetworks: [{ name: v, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.1.0.0/24 }] }]',
      'virtualNetworks[0].subnets[0].block: expected a block within 10.0.0.0/16, found 10.1.0.0/24',
    ],
    [
      'virtualNetworks: [{ name: v, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }, { name: b, block: 10.0.0.0/25 }] }]',
      'virtualNetworks[0].subnets[1].block: expected a block apart from the others, found 10.0.0.0/25',
    ],
    [`${networks}\nfrobnicate: 1`, 'unknown key "frobnicate"'],
  ])('is refused for %j', (text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem.replace('Invalid input: ', ''));
  });
});
