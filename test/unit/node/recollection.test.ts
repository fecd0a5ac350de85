import { expect, test } from '@jest/globals';
import { recollection, shownSince, speaksOfAnother } from '../../../src/node/recollection.ts';
import type { Recollection } from '../../../src/providers/allocation-implementation.ts';
import { networkInterface } from '../providers/interfaces.ts';
import { nodeOf } from './cilium-nodes.ts';

type Enis = Readonly<Record<string, readonly string[]>>;

const implementation = { statusKey: 'eni', recall };

function recall(_: string, status: unknown): Recollection {
  const { enis = {} } = status as { enis?: Readonly<Record<string, { addresses: readonly string[] }>> };
  const interfaces = Object.entries(enis).map(([id, { addresses }]) => networkInterface({ id, addresses }));
  return { interfaces, subnets: new Map(), networks: new Map() };
}

test.each<[string, string, readonly string[], boolean]>([
  ['of the same instance speaks of itself', 'i-1', ['eni-1'], false],
  ['of another shows what the former one had', 'i-2', ['eni-1'], true],
  ['of another shows some of what the former one had', 'i-2', ['eni-1', 'eni-9'], true],
  ['of another shows what it has itself, as a leader before us knew', 'i-2', ['eni-2'], false],
  ['of another shows nothing yet', 'i-2', [], false],
])('a CiliumNode %s', (_, instanceId, ids, expected) => {
  const before = { ...nodeOf({ enis: { 'eni-1': ['10.0.0.1'] } }), instanceId: 'i-1' };
  const enis = Object.fromEntries(ids.map((id) => [id, ['10.0.0.2']]));

  expect(speaksOfAnother({ ...nodeOf({ enis }), instanceId }, before, implementation)).toBe(expected);
});

test.each<[string, string, readonly string[]]>([
  ['shows it as well', '10.0.0.1', ['10.0.0.1']],
  ['does not show it', '10.0.0.9', ['10.0.0.1', '10.0.0.9']],
  ['shows it on another interface, because a pool is written last', '10.0.0.2', ['10.0.0.1']],
])('an address of the pool is remembered on its interface: the status %s', (_, address, expected) => {
  const enis = { 'eni-1': ['10.0.0.1'], 'eni-2': ['10.0.0.2'] };
  const node = nodeOf({ enis, pool: { [address]: { resource: 'eni-1' } } });

  const [first] = recollection(node, 'i-1', implementation).interfaces;

  expect(first?.addresses).toEqual(expected);
});

test.each<[string, Enis, Enis]>([
  ['an address', { 'eni-1': ['10.0.0.1', '10.0.0.2'] }, { 'eni-1': ['10.0.0.2'] }],
  ['an interface', { 'eni-1': ['10.0.0.1'], 'eni-2': [] }, { 'eni-2': [] }],
  ['an address on another interface', { 'eni-1': [], 'eni-2': ['10.0.0.1'] }, { 'eni-2': ['10.0.0.1'] }],
  ['less', { 'eni-1': [] }, {}],
])('a newer state shows %s', (_, enis, expected) => {
  const before = nodeOf({ enis: { 'eni-1': ['10.0.0.1'] } });

  const shown = shownSince(before, nodeOf({ enis }), 'i-1', implementation);

  expect(Object.fromEntries(shown.map(({ id, addresses }) => [id, addresses]))).toEqual(expected);
});
