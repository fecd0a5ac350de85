import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { azureTopology, roleOfHeadwater } from '../../../../src/commands/demo/azure/azure-topology.ts';

const role = JSON.parse(
  readFileSync(new URL('../../../../docs/azure-role.json', import.meta.url), 'utf8'),
) as { Actions: readonly string[]; NotActions: readonly string[] };

describe('the Azure of the demonstration', () => {
  test.each([4, 5, 10, 50, 100])('has %d nodes, in scale sets of both kinds', (nodes) => {
    const { scaleSets, machines } = azureTopology(nodes, 'x');
    const counts = [...scaleSets, ...machines].map(({ count }) => count);

    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(nodes);
    expect(new Set(scaleSets.map(({ mode }) => mode))).toEqual(new Set(['Uniform', 'Flexible']));
  });

  test('allows the controller what docs/azure-role.json lists, and nothing else', () => {
    const [principal] = azureTopology(4, 'x').principals;

    expect(roleOfHeadwater).toEqual(role.Actions);
    expect(role.NotActions).toEqual([]);
    expect(principal?.roles?.map(({ actions }) => actions)).toEqual([role.Actions, role.Actions]);
  });
});
