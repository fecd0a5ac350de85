import { describe, expect, test } from '@jest/globals';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import {
  isInterfaceShown,
  shownBy,
  shownTo,
} from '../../../../src/kubernetes/cilium-node/shown-addresses.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { awaitedOn } from '../../../../src/node/demand/awaited.ts';
import { excludedUnlessShown } from '../../../../src/node/publish/desired-status.ts';
import { givenUpAndHidden } from '../../../../src/node/publish/restored-state.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import { awaitedAttachment } from '../../node/allocation-facts.ts';
import { wellFormed } from '../../node/cilium-nodes.ts';
import { shownStatuses } from '../../providers/aws/shown-statuses.ts';
import { ciliumNode } from '../cilium-node-fixture.ts';

const probes = [...expandBlock('10.0.0.0/25'), '10.0.1.10', '192.0.2.1', '0.0.0.0', '255.255.255.255'];
const ids = ['eni-1', 'eni-2', '', 'constructor', 'toString', 'eni-3'];
const releases = Object.fromEntries(probes.map((address) => [address, 'ready-for-release' as const]));

/** With nothing in its pool and every address given up. */
function nodeWith(eni: Json, pool: JsonObject = {}): CiliumNode {
  const emptied = ciliumNode({ spec: { ipam: null }, status: null }) as { readonly spec: JsonObject };
  const spec = { ...emptied.spec, ipam: { pool } };
  return wellFormed({ ...emptied, spec, status: { eni, ipam: { 'release-ips': releases } } });
}

describe('what a CiliumNode shows whose status holds', () => {
  const rows = Object.entries(shownStatuses).map(([name, row]) => [name, row] as const);

  test.each(rows)('%s, is one answer for all who ask', (_, { eni, shows, interfaces, warnings = 0 }) => {
    const node = nodeWith(eni);
    const { addresses } = shownBy({ kind: 'node', node });
    const hidden = probes.filter((address) => !shows.includes(address));
    const awaited = new Map(ids.map((id) => [id, awaitedAttachment()]));

    expect(new Set(addresses)).toEqual(new Set(shows));
    expect(probes.filter(shownTo(node))).toEqual(probes.filter((address) => shows.includes(address)));
    expect([...givenUpAndHidden(node)]).toEqual(hidden);
    expect([...excludedUnlessShown(probes, node).status]).toEqual(hidden);
    expect(ids.filter(isInterfaceShown(node)).toSorted()).toEqual([...interfaces].toSorted());
    expect([...awaitedOn({ awaited }, node).keys()]).toEqual(ids.filter((id) => !interfaces.includes(id)));
    expect(node.warnings).toHaveLength(warnings);
  });

  test('a prefix that is larger than any that clouds delegate hides none of its members, and claims none', () => {
    const node = nodeWith({ enis: { 'eni-1': { addresses: ['10.0.1.10'], prefixes: ['10.0.0.0/8'] } } });

    expect(probes.filter(shownTo(node))).toEqual(probes.filter((address) => address.startsWith('10.')));
    expect([...givenUpAndHidden(node)]).toEqual(['192.0.2.1', '0.0.0.0', '255.255.255.255']);
    expect(shownBy({ kind: 'node', node }).addresses).toEqual(['10.0.1.10']);
  });

  test('nothing: the pool shows its addresses, and their interfaces', () => {
    const node = nodeWith(null, { '10.0.0.10': { resource: 'eni-1' }, '10.0.0.11': {} });

    expect(probes.filter(shownTo(node))).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(ids.filter(isInterfaceShown(node))).toEqual(['eni-1', '']);
    expect(shownBy({ kind: 'node', node })).toEqual({
      networkId: 'vpc-1',
      addresses: ['10.0.0.10', '10.0.0.11'],
    });
  });

  test('anything, but whose spec cannot be read: it claims nothing', () => {
    const unreadable = { kind: 'unreadable', name: 'n', uid: 'u', ignored: false, problems: [] } as const;

    expect(shownBy(unreadable)).toEqual({ networkId: '', addresses: [] });
  });
});
