import { expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { type JsonObject, memberOf } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { nextWrite, type Write } from '../../../../src/node/publish/next-write.ts';
import { nodeOf, type NodeParts } from '../cilium-nodes.ts';

const address = '10.0.0.10';

/** Addresses that each interface shows in the status; the pool has all of them. */
type Shown = Readonly<Record<string, readonly string[]>>;

function poolOf(shown: Shown): ReadonlyMap<string, string> {
  return new Map(Object.entries(shown).flatMap(([id, addresses]) => addresses.map((each) => [each, id])));
}

function ofProvider(shown: Shown): JsonObject {
  const enis = Object.entries(shown).map(([id, addresses]) => [id, { id, addresses: [...addresses] }]);
  return { enis: Object.fromEntries(enis) as JsonObject };
}

/** All writes until the node is up to date, each as the patch of the pool, or as the remaining interfaces. */
function writesBetween(
  before: Shown,
  after: Shown,
  agent: Pick<NodeParts, 'allocated'> = {},
): readonly unknown[] {
  let pool: JsonObject = Object.fromEntries(
    [...poolOf(before)].map(([each, resource]) => [each, { resource }]),
  );
  let eni = ofProvider(before);
  const offer = {
    provider: { ...awsSection, value: ofProvider(after) },
    interfaces: new Set(Object.keys(after)),
    pool: poolOf(after),
    staticIp: undefined,
    preAllocate: 0,
  };
  const next = (): Write | undefined => {
    const enis = Object.entries(memberOf(eni, 'enis') as Readonly<Record<string, { addresses: string[] }>>);
    const node = nodeOf({
      pool,
      enis: Object.fromEntries(enis.map(([id, { addresses }]) => [id, addresses])),
      ...agent,
    });
    return nextWrite(node, { offer, handshake: undefined, operatorError: '' });
  };
  const writes: unknown[] = [];
  for (let write = next(); write !== undefined && writes.length < 10; write = next()) {
    const { part, patch } = write;
    if (part === 'spec') {
      const struck = memberOf(memberOf(patch, 'ipam'), 'pool') ?? {};
      pool = applyMergePatch(pool, struck) as JsonObject;
      writes.push(struck);
    } else {
      eni = applyMergePatch(eni, memberOf(patch, 'eni') ?? {}) as JsonObject;
      writes.push(Object.keys(memberOf(eni, 'enis') as JsonObject));
    }
  }
  return writes;
}

test.each<[string, Shown, Shown, readonly unknown[]]>([
  ['comes', { 'eni-1': [] }, { 'eni-1': [address] }, [['eni-1'], { [address]: { resource: 'eni-1' } }]],
  ['leaves', { 'eni-1': [address] }, { 'eni-1': [] }, [{ [address]: null }, ['eni-1']]],
  ['leaves with its interface', { 'eni-1': [address] }, {}, [{ [address]: null }, []]],
  [
    'moves',
    { 'eni-1': [address] },
    { 'eni-1': [], 'eni-2': [address] },
    [['eni-1', 'eni-2'], { [address]: { resource: 'eni-2' } }],
  ],
  [
    'moves as its interface leaves',
    { 'eni-1': [address], 'eni-2': [] },
    { 'eni-2': [address] },
    [{ [address]: null }, ['eni-2'], { [address]: { resource: 'eni-2' } }],
  ],
])(
  'no address is in the pool without its interface in the status, when an address %s',
  (_, before, after, writes) => {
    expect(writesBetween(before, after)).toEqual(writes);
  },
);

test('an address that moves leaves the pool first, if its multi-pool agent reads there only what the status lacks', () => {
  const moved = { 'eni-1': [], 'eni-2': [address] };

  expect(writesBetween({ 'eni-1': [address] }, moved, { allocated: [] })).toEqual([
    { [address]: null },
    ['eni-1', 'eni-2'],
    { [address]: { resource: 'eni-2' } },
  ]);
});
