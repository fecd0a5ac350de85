import { describe, expect, test } from '@jest/globals';
import { poolClaims } from '../../../../src/blocks/multi-pool/pool-condition.ts';
import { type PoolDefinition, readPool } from '../../../../src/blocks/multi-pool/pool-definition.ts';
import { listedBlocks, poolNodeHolder } from '../../../../src/blocks/multi-pool/pool-node-holder.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { cidr } from '../allocation/holder-model.ts';

function definition(): PoolDefinition {
  const spec = { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 28 } };
  const reading = readPool(readCiliumPodIpPool({ metadata: { name: 'blue', uid: 'blue' }, spec }));
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return reading.pool;
}

/** `needed`: addresses of pool blue. */
function holder(needed: number) {
  return poolNodeHolder({
    metadata: { name: 'a', uid: 'a' },
    spec: {
      ipam: {
        pools: {
          requested: [{ pool: 'blue', needed: { 'ipv4-addrs': needed } }],
          allocated: [{ pool: 'blue', cidrs: ['10.0.0.0/28'] }],
        },
      },
    },
  });
}

describe('what a node has beyond the bound', () => {
  test.each([
    ['no more than the bound', 14, 64, []],
    ['more than the bound, and as many as it asks for', 14 * 65, 65, []],
    ['more than the bound beside what it asks for', 14, 66, ['blue']],
    ['exactly the bound beside what it asks for', 14, 65, []],
  ])('is excessive or not: %s', (_, needed, blocks, excessive) => {
    const own = holder(needed);
    const facts = {
      claims: { bound: 64, room: () => Infinity },
      counts: [{ pool: 'blue', family: 'ipv4', blocks }] as const,
      wants: [],
      definitionOf: definition,
    };
    const found = poolClaims({ holder: own, listed: listedBlocks(own), unconfirmed: [] }, facts);

    expect([...found.excessive]).toEqual(excessive);
    expect([...found.unconfirmed]).toEqual([]);
  });

  test.each([
    ['what it lists and does not hold', ['10.0.0.0/28'], Infinity, ['blue']],
    ['what it asks for and does not get', [], 0, ['blue']],
    ['nothing', [], 1, []],
  ] as const)('is unconfirmed: %s', (_, unconfirmed, room, expected) => {
    const own = holder(100);
    const found = poolClaims(
      { holder: own, listed: listedBlocks(own), unconfirmed: unconfirmed.map(cidr) },
      {
        claims: { bound: 64, room: () => room },
        counts: [],
        wants: [{ pool: 'blue', family: 'ipv4', addresses: 86 }],
        definitionOf: definition,
      },
    );

    expect([...found.unconfirmed]).toEqual(expected);
  });
});
