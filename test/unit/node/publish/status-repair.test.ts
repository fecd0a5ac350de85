import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { type JsonObject, valueAt } from '../../../../src/runtime/json.ts';
import { PatchBase } from '../../../../src/kubernetes/cilium-node/patch-base.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { nextWrite, type Offer } from '../../../../src/node/publish/next-write.ts';
import { repairOf } from '../../../../src/node/publish/status-repair.ts';
import { nodeOf } from '../cilium-nodes.ts';

const [a, b, c] = ['10.0.0.10', '10.0.0.11', '10.0.1.10'];

function entry(id: string, addresses: readonly string[], change: JsonObject = {}): JsonObject {
  const subnet = { id: 'subnet-1', cidr: '10.0.0.0/16' };
  return { id, mac: `02:00:00:00:00:0${id.slice(-1)}`, subnet, addresses: [...addresses], ...change };
}

/** Two interfaces: one has `a` and `b`, the other `c`. */
const offer: Offer = {
  provider: {
    ...awsSection,
    value: { enis: { 'eni-0': entry('eni-0', [a, b]), 'eni-1': entry('eni-1', [c]) } },
  },
  interfaces: new Set(['eni-0', 'eni-1']),
  pool: new Map([
    [a, 'eni-0'],
    [b, 'eni-0'],
    [c, 'eni-1'],
  ]),
  staticIp: undefined,
  preAllocate: 0,
};

/** A node with these addresses by interface in its pool, and these entries in its status. */
function node(pool: Readonly<Record<string, string>>, enis: JsonObject): ReturnType<typeof nodeOf> {
  const entries = Object.entries(pool).map(([address, resource]) => [address, { resource }] as const);
  const of = nodeOf({ pool: Object.fromEntries(entries) });
  return { ...of, base: new PatchBase({ status: { eni: { enis } } }, of.ipam.pool, 'eni') };
}

const pooled = { [a]: 'eni-0', [c]: 'eni-1' };
const whole = { 'eni-0': entry('eni-0', [a, b]), 'eni-1': entry('eni-1', [c]) };

describe('the interfaces that a pool names', () => {
  test.each<[string, Readonly<Record<string, string>>, JsonObject, JsonObject | undefined]>([
    ['are whole: nothing is lacking', pooled, whole, undefined],
    ['are gone from the status: all of them come back', pooled, {}, whole],
    ['lack one: that one comes back', pooled, { 'eni-1': whole['eni-1'] }, { 'eni-0': whole['eni-0'] }],
    [
      'lack what an agent needs for routing',
      pooled,
      { ...whole, 'eni-0': entry('eni-0', [a, b], { mac: null, subnet: { id: 'subnet-1' } }) },
      { 'eni-0': { mac: '02:00:00:00:00:00', subnet: { cidr: '10.0.0.0/16' } } },
    ],
    [
      'lack an address that the pool has: it comes back next to what is shown',
      pooled,
      { ...whole, 'eni-0': entry('eni-0', ['10.0.0.99']) },
      { 'eni-0': { addresses: ['10.0.0.99', a, b] } },
    ],
    [
      'lack a new address: it is added in its turn',
      pooled,
      { ...whole, 'eni-0': entry('eni-0', [a]) },
      undefined,
    ],
    [
      'are whole, and another one that is shown lacks what an agent needs: agents may not read the pool',
      { [a]: 'eni-0' },
      { ...whole, 'eni-1': entry('eni-1', [c], { subnet: null }) },
      { 'eni-1': { subnet: { id: 'subnet-1', cidr: '10.0.0.0/16' } } },
    ],
    ['are whole, and another one is not shown', { [a]: 'eni-0' }, { 'eni-0': whole['eni-0'] }, undefined],
    [
      'lack what no agent needs',
      pooled,
      { ...whole, 'eni-0': entry('eni-0', [a, b], { tags: { some: 'tag' } }) },
      undefined,
    ],
    ['are not what the instance has: nothing is known of them', { '10.0.9.9': 'eni-9' }, {}, undefined],
    ['do not carry the address that the pool assigns to them', { [a]: 'eni-1' }, {}, undefined],
  ])('%s', (_, pool, enis, expected) => {
    expect(repairOf(node(pool, enis), offer)).toEqual(expected && { eni: { enis: expected } });
  });

  test('come back before anything is withdrawn, and nothing else does', () => {
    const desired = { offer, handshake: undefined, operatorError: '' };
    const leaving = { ...pooled, '10.0.0.99': 'eni-0' };

    const first = nextWrite(node(leaving, {}), desired);
    const enis = applyMergePatch({}, valueAt(first?.patch, 'eni', 'enis') ?? {}) as JsonObject;
    const second = nextWrite(node(leaving, enis), desired);

    expect(first).toEqual({ part: 'status', patch: { eni: { enis: whole } } });
    expect(second).toEqual({ part: 'spec', patch: { ipam: { pool: { '10.0.0.99': null } } } });
  });
});
