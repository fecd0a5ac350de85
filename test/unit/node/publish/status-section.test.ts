import { describe, expect, test } from '@jest/globals';
import { PatchBase } from '../../../../src/kubernetes/cilium-node/patch-base.ts';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { conflictingParts } from '../../../../src/node/publish/conflicting-write.ts';
import { nextWrite, type Offer } from '../../../../src/node/publish/next-write.ts';
import { identities, unionOf } from '../../../../src/node/publish/status-section.ts';
import { unverifiedOffer } from '../../../../src/node/publish/unverified-offer.ts';
import { idOf, otherSubnet, published, publishedBefore, section } from '../../providers/azure/published.ts';
import { nodeOf } from '../cilium-nodes.ts';

const [a, b, c] = ['10.0.0.10', '10.0.0.11', '10.0.1.10'];

/** A node with these interfaces in its status, and these addresses of `eth0` in its pool. */
function node(interfaces: Json, pool: readonly string[] = []): CiliumNode {
  const entries = pool.map((address) => [address, { resource: idOf('eth0') }] as const);
  const plain = nodeOf({ pool: Object.fromEntries(entries) });
  return {
    ...plain,
    base: new PatchBase({ status: { azure: { interfaces } } }, plain.ipam.pool, section.key),
  };
}

function offer(interfaces: readonly JsonObject[], pool: readonly string[] = []): Offer {
  return {
    provider: { key: section.key, layout: section.layout, value: { interfaces } },
    interfaces: new Set([idOf('eth0'), idOf('eth1')]),
    pool: new Map(pool.map((address) => [address, idOf('eth0')])),
    staticIp: undefined,
    preAllocate: 0,
  };
}

function writeTo(before: CiliumNode, wanted: Offer): unknown {
  return nextWrite(before, { offer: wanted, handshake: undefined, operatorError: '' });
}

const status = (interfaces: readonly Json[]): unknown => ({
  part: 'status',
  patch: { azure: { interfaces } },
});

describe('a status whose interfaces are a list', () => {
  test('is replaced as a whole when one interface gains an address', () => {
    const wanted = [published('eth0', [a, b]), published('eth1')];

    expect(writeTo(node([published('eth0', [a]), published('eth1')]), offer(wanted))).toEqual(status(wanted));
  });

  test.each<[string, Json]>([
    ['the same', [published('eth0', [a]), published('eth1')]],
    [
      'the same with empty fields',
      [published('eth0', [a], { GatewayIP: '' }), published('eth1', [], { addresses: [] })],
    ],
  ])('is not written when it is %s', (_, interfaces) => {
    expect(writeTo(node(interfaces), offer([published('eth0', [a]), published('eth1')]))).toBeUndefined();
  });

  test('is written in order once, if another writer wrote it in another order', () => {
    const wanted = [published('eth0', [a]), published('eth1')];

    expect(writeTo(node(wanted.toReversed()), offer(wanted))).toEqual(status(wanted));
  });
});

describe('the repair of a list, before an address leaves the pool,', () => {
  test.each<[string, readonly Json[], readonly Json[] | undefined]>([
    ['is nothing while it is whole', [published('eth0', [a, b])], undefined],
    [
      'restores a missing interface among the others',
      [published('eth1')],
      [published('eth0', [a]), published('eth1')],
    ],
    [
      'adds an address that the pool has, and removes none',
      [published('eth0', [c]), published('eth1')],
      [published('eth0', [c, a]), published('eth1')],
    ],
    [
      'adds what an agent needs for routing, and keeps what it does not know',
      [published('eth0', [a, b], { gateway: null, cidr: null, novelty: 1 })],
      [{ ...published('eth0', [a, b]), novelty: 1 }],
    ],
  ])('%s', (_, interfaces, repaired) => {
    const wanted = offer([published('eth0', [a]), published('eth1')], [a]);
    const struck = { part: 'spec', patch: { ipam: { pool: { [b]: null } } } };

    const write = writeTo(node(interfaces, [a, b]), wanted);

    expect(write).toEqual(repaired === undefined ? struck : status(repaired));
  });
});

describe('the kept list of an unverified CiliumNode', () => {
  test.each<[string, readonly Json[], readonly JsonObject[], readonly Json[]]>([
    [
      'has what is shown and what is wanted',
      [published('eth1', [c])],
      [published('eth0', [a])],
      [published('eth0', [a]), published('eth1', [c])],
    ],
    [
      'has the addresses of both',
      [published('eth0', [b])],
      [published('eth0', [a])],
      [published('eth0', [a, b])],
    ],
    [
      'has the wanted facts of an address',
      [published('eth0', [], { addresses: [{ ip: a, subnet: otherSubnet, state: 'updating' }] })],
      [published('eth0', [a])],
      [published('eth0', [a])],
    ],
    [
      'has no address that is elsewhere',
      [published('eth0', [a, '10.0.0.99'])],
      [published('eth0', [a])],
      [published('eth0', [a])],
    ],
    [
      'has an interface that is listed twice',
      [published('eth1', [b]), published('eth1', [c])],
      [],
      [published('eth1', [b]), published('eth1', [c])],
    ],
  ])('%s', (_, interfaces, wanted, kept) => {
    const { provider } = unverifiedOffer(offer(wanted), node(interfaces), new Set(['10.0.0.99']), section);

    expect(provider.value).toEqual({ interfaces: kept });
  });
});

describe('a conflicting write to a list', () => {
  const before = [published('eth0', [a]), published('eth1')];

  test.each<[string, readonly Json[], boolean]>([
    ['nothing', before, false],
    ['another order', before.toReversed(), false],
    [
      'fields dropped that older agents do not know',
      [published('eth0', [a], { ip: null, subnet: null }), published('eth1')],
      false,
    ],
    [
      'an obsolete field that older agents write empty',
      [published('eth0', [a], { GatewayIP: '' }), published('eth1')],
      false,
    ],
    ['an address more', [published('eth0', [a, b]), published('eth1')], true],
    ['an address less', [published('eth0'), published('eth1')], true],
    ['an interface less', [published('eth0', [a])], true],
    ['an interface twice', [...before, published('eth1')], true],
    ['what another operator writes', [publishedBefore('eth0', [a]), publishedBefore('eth1', [])], true],
  ])('is seen in %s: %#', (_, after, isConflict) => {
    const parts = conflictingParts({ previous: node(before), next: node(after), section, open: [] });

    expect(parts).toEqual(isConflict ? ['status'] : []);
  });

  test('is none if it is the write of ours that has no answer', () => {
    const patch = { azure: { interfaces: [published('eth0', [a, b])] } };
    const after = applyMergePatch({ azure: { interfaces: before } }, patch) as typeof patch;
    const open = [{ base: '1', part: 'status', patch }] as const;

    const parts = conflictingParts({
      previous: node(before),
      next: node(after.azure.interfaces),
      section,
      open,
    });

    expect(parts).toEqual([]);
  });
});

test('a list whose name is that of a member of every object has items without an identity', () => {
  const layout = { identifiedBy: new Map([['interfaces', 'id']]) };
  const items = (...ids: readonly string[]) => ids.map((id) => ({ id }));

  expect(unionOf({ constructor: items('a') }, { constructor: items('b') }, layout)).toEqual({
    constructor: items('b'),
  });
  expect(identities(items('a'), 'constructor', layout)).toEqual(items('a'));
});
