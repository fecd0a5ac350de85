import { describe, expect, test } from '@jest/globals';
import { podAddresses } from '../../../../src/node/demand/capacity.ts';
import { type NodeRequirements, whySpared } from '../../../../src/node/demand/node-requirements.ts';
import { usageIn } from '../../../../src/node/release/prepare-ip-release.ts';
import { retiredHoldings, retiredInUse, retiredUses } from '../../../../src/node/release/retired-holdings.ts';
import { eni, requirements, view } from '../allocation-facts.ts';
import { nodeOf, type NodeParts } from '../cilium-nodes.ts';

const block = '10.9.0.0/28';
const items = [eni(0, 2), eni(1, 2, { prefixes: [block] })];
const [a = '', b = ''] = items[1]?.addresses ?? [];
const on = (resource: string): { resource: string } => ({ resource });
const second = { firstInterfaceIndex: 2 };

function retired(parts: NodeParts, change: Partial<NodeRequirements> = second): readonly string[] {
  return retiredHoldings(nodeOf(parts), view(items), requirements(change)).map(({ id }) => id);
}

describe('a retired address that stays offered', () => {
  test.each<[string, NodeParts, Partial<NodeRequirements>, readonly string[]]>([
    ['nothing of an interface that is fit', { pool: { [a]: on('eni-1') } }, {}, []],
    ['nothing that was never offered', {}, second, []],
    ['what the pool has', { pool: { [a]: on('eni-1') } }, second, [a]],
    ['nothing that the pool has of another interface', { pool: { [a]: on('eni-9') } }, second, []],
    ['what an agent that is asked uses', { used: { [b]: on('eni-1') } }, second, [b]],
    ['what an agent that is not asked holds', { allocated: [b] }, second, [b]],
    ['a prefix as a whole', { pool: { '10.9.0.3': on('eni-1') } }, second, [block]],
    ['no primary address that was never offered, even in use', { allocated: ['10.0.0.4'] }, {}, []],
    ['a primary address that was offered', { pool: { '10.0.0.4': on('eni-0') } }, {}, ['10.0.0.4']],
    [
      'no primary address when pods may have it',
      { pool: { '10.0.0.4': on('eni-0') } },
      { usePrimaryAddress: true },
      [],
    ],
  ])('is %s', (_, parts, change, expected) => {
    expect(retired(parts, change)).toEqual(expected);
  });
});

describe('an address of others that is spared', () => {
  const shared = [eni(0, 2, { ofOthers: [a], associated: [a], addresses: [a, b] })];
  const spares = requirements({ sparesOthers: true });
  const offered = nodeOf({ pool: { [a]: on('eni-0'), [b]: on('eni-0') }, used: { [a]: on('eni-0') } });

  test('stays offered beside the others where the pool has it', () => {
    expect(retiredHoldings(offered, view(shared), spares).map(({ id }) => id)).toEqual([a]);
    expect([...podAddresses(view(shared), spares).keys()]).toEqual([b]);
    expect(retiredUses(offered, view(shared), spares)).toEqual([
      { interfaceId: 'eni-0', why: whySpared, addresses: 1 },
    ]);
  });

  test('is not offered where nobody has it', () => {
    expect(retiredHoldings(nodeOf({}), view(shared), spares)).toEqual([]);
  });

  test('counts as used by what leads to it only where a release would take it away', () => {
    const idle = nodeOf({});
    const isUsed = (change: Partial<NodeRequirements>): boolean =>
      usageIn(idle, { view: view(shared), requirements: requirements(change) })(a);

    expect(isUsed({})).toBe(true);
    expect(isUsed({ sparesOthers: true })).toBe(false);
    expect(isUsed({ firstInterfaceIndex: 1 })).toBe(false);
  });
});

describe('the number of retired addresses in use', () => {
  const pool = { [a]: on('eni-1'), [b]: on('eni-1') };

  test.each<[string, NodeParts, number, readonly string[], number]>([
    ['those that an asked agent reports as used', { pool, used: { [a]: on('eni-1') } }, 1, [], 1],
    ['nothing that is idle', { pool }, 5, [], 0],
    ['nothing on its way out', { pool, used: { [a]: on('eni-1') } }, 1, [a], 0],
    ['no more than an agent that is not asked can use', { pool, allocated: [a, b] }, 1, [], 1],
  ])('counts %s', (_, parts, used, outgoing, expected) => {
    const node = nodeOf(parts);
    const holdings = retiredHoldings(node, view(items), requirements(second));

    expect(retiredInUse(node, holdings, { used, outgoing: new Set(outgoing) })).toBe(expected);
  });

  test('is reported by interface, with the reason', () => {
    const offered = { ...pool, '10.0.0.4': on('eni-0') };
    const node = nodeOf({ pool: offered, used: { [a]: on('eni-1'), '10.0.0.4': on('eni-0') } });
    const asked = requirements({ excludeInterfaceTags: { role: 'storage' } });
    const tagged = view(
      items.map((item, index) => (index === 1 ? { ...item, tags: { role: 'storage' } } : item)),
    );

    expect(retiredUses(node, tagged, asked)).toEqual([
      {
        interfaceId: 'eni-0',
        why: 'use-primary-address is off, and this is its primary address',
        addresses: 1,
      },
      { interfaceId: 'eni-1', why: 'it carries the tags of exclude-interface-tags', addresses: 1 },
    ]);
  });
});
