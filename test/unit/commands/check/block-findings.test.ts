import { describe, expect, test } from '@jest/globals';
import { blockFindings } from '../../../../src/commands/check/block-findings.ts';
import { known } from '../../../../src/commands/check/fact.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { type GivenFlags, optionsOf } from '../../../support/given-options.ts';

const pool = (cidr: string): JsonObject => ({
  metadata: { name: 'default', uid: 'pool' },
  spec: { ipv4: { cidrs: [cidr], maskSize: 24 } },
});
const node = (name: string, ipam: JsonObject): JsonObject => ({
  metadata: { name, uid: name },
  spec: { ipam },
});
const moving = { 'enable-cluster-pool-to-multi-pool-migration': 'true' };

function found(
  ciliumNodes: readonly JsonObject[],
  pools: readonly JsonObject[],
  flags: GivenFlags = {},
): readonly string[] {
  const objects = { nodes: known([]), ciliumNodes: known(ciliumNodes), pools: known(pools) };
  return blockFindings(objects, optionsOf({ ipam: 'multi-pool', ...flags })).map(
    ({ verdict, found: text, remedy = '' }) => `${verdict} ${text} ${remedy}`,
  );
}

describe('a CiliumNode with pod CIDRs of cluster-pool, checked for multi-pool', () => {
  const [inside, outside] = ['10.0.1.0/24', '10.9.0.0/24'].map((cidr) => node(cidr, { podCIDRs: [cidr] }));
  if (inside === undefined || outside === undefined) throw new Error('there are two');

  test('has a problem, with its remedy, if the default pool does not have them', () => {
    expect(found([inside, outside], [pool('10.0.0.0/16')], moving)).toEqual([
      expect.stringMatching(
        /^problem 1 CiliumNode \(10\.9\.0\.0\/24\): PodCIDROutsidePools; of 10\.9\.0\.0\/24: .* does not have its pod CIDR 10\.9\.0\.0\/24 as a block: give the pool the networks and mask sizes of cluster-pool see PodCIDROutsidePools/,
      ),
    ]);
  });

  test('has a problem if there is no default pool', () => {
    expect(found([inside], [], moving)).toEqual([
      expect.stringMatching(/^problem .*: pool default cannot take its blocks: there is no such/),
    ]);
  });

  test('fits the default pool that an option names', () => {
    const named = 'default=ipv4-cidrs:10.0.0.0/16;ipv4-mask-size:24';
    expect(found([inside], [], { ...moving, 'auto-create-cilium-pod-ip-pools': named })).toEqual([
      expect.stringMatching(/^ok those of 1 CiliumNodes fit/),
    ]);
  });
});

test('a block that is of no pool is a problem, as a dry run says', () => {
  const listed = node('a', { pools: { allocated: [{ pool: 'default', cidrs: ['10.9.0.0/24'] }] } });

  expect(found([listed], [pool('10.0.0.0/16')])).toEqual([
    expect.stringMatching(/^problem 1 CiliumNode \(a\): BlockOrphaned; of a: .*10\.9\.0\.0\/24/),
  ]);
});
