// What a change of one pool costs the nodes of others.
import { describe, expect, test } from '@jest/globals';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { PoolPolicy } from '../../../../src/blocks/multi-pool/pool-policy.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../../../../src/blocks/multi-pool/pool-node-holder.ts';
import {
  type CiliumPodIpPool,
  readCiliumPodIpPool,
} from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';

const count = 1000;

function pool(index: number, ...more: string[]): readonly [string, CiliumPodIpPool] {
  const name = `pool-${index}`;
  const cidrs = [`10.${index >> 8}.${index & 255}.0/24`, ...more];
  const metadata = { name, uid: name, resourceVersion: '1' };
  return [name, readCiliumPodIpPool({ metadata, spec: { ipv4: { cidrs, maskSize: 28 } } })];
}

/** Uids whose holders were read. */
const read = new Set<string>();

function node(index: number, needed: number): PoolNodeHolder {
  const uid = `uid-${index}`;
  const requested = [{ pool: `pool-${index}`, needed: { 'ipv4-addrs': needed } }];
  const allocated = [{ pool: `pool-${index}`, cidrs: [`10.${index >> 8}.${index & 255}.0/28`] }];
  const holder = poolNodeHolder({
    metadata: { name: `node-${index}`, uid, resourceVersion: '1' },
    spec: { ipam: { pools: { requested, allocated } } },
  });
  return new Proxy(holder, {
    get: (target, key) => {
      read.add(uid);
      return Reflect.get(target, key) as unknown;
    },
  });
}

function scene(): PoolPolicy {
  const policy = new PoolPolicy(new BlockLedger([]), {
    writer: { patch: () => Promise.resolve({ kind: 'gone' }) },
  });
  for (let index = 0; index < count; index++) policy.hold(node(index, 20), undefined);
  policy.changePools(Array.from({ length: count }, (_, index) => pool(index)));
  read.clear();
  return policy;
}

describe('a change of one pool', () => {
  test.each([
    ['that grows', pool(7, '10.200.0.0/24')],
    ['that is deleted', ['pool-7', undefined] as const],
    ['that is refused', pool(7, '10.0.8.0/25')],
  ])('%s costs nothing for 999 nodes of other pools', (_, change) => {
    const policy = scene();

    expect(policy.changePools([change])).toEqual(['uid-7']);
    expect([...read]).toEqual(['uid-7']);
  });

  test('concerns a node that has a block under its name and asks for nothing', () => {
    const policy = scene();
    policy.hold(node(2000, 0), undefined);
    const [name] = pool(2000);

    expect(policy.changePools([pool(2000)])).toEqual(['uid-2000']);
    expect([...policy.orphans()]).toEqual([]);
    expect(policy.changePools([[name, undefined]])).toEqual(['uid-2000']);
    expect([...policy.orphans()]).toMatchObject([{ pool: name, node: 'node-2000' }]);
  });
});
