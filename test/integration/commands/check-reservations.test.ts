// Answers of the command check about reservations of subnets on EC2, and when it asks.
import { describe, expect, test } from '@jest/globals';
import { createReservation } from '../../../src/simulator/cloud/subnets.ts';
import { checkedWorld } from '../../support/checked-world.ts';
import type { GivenFlags } from '../../support/given-options.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';

interface Case {
  readonly reserved?: readonly (readonly [block: string, type: 'explicit' | 'prefix'])[];
  /** Addresses that are left in the subnet of the nodes; all of them by default. */
  readonly left?: number;
  readonly flags?: GivenFlags;
  readonly prepare?: (world: World) => void;
}

const prefixes = { 'aws-enable-prefix-delegation': 'true' };

async function played({ reserved = [], left, flags, prepare }: Case): Promise<{
  readonly rows: readonly string[];
  /** How often reservations were asked about. */
  readonly asked: number;
}> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
  for (const machine of world.machines) await world.announce(machine);
  for (const [block, type] of reserved)
    createReservation(world.cluster.ec2.network, {
      subnetId: ids.nodes,
      block,
      type,
      description: '',
      tags: {},
    });
  if (left !== undefined) {
    world.occupy(ids.nodes, left);
    await world.advance(120_000);
  }
  prepare?.(world);
  const { findings, calls } = await checkedWorld(world, { 'subnet-ids-filter': ids.nodes, ...flags });
  return {
    rows: findings.flatMap(({ what, verdict, found }) =>
      what === 'reservations' ? [`${verdict} ${found}`] : [],
    ),
    asked: calls.filter((action) => action === 'GetSubnetCidrReservations').length,
  };
}

describe('reservations of subnets', () => {
  test.each<[string, Case]>([
    ['there is room', { reserved: [['10.0.0.192/26', 'explicit']] }],
    ['there is room for prefixes', { reserved: [['10.0.0.192/26', 'prefix']], flags: prefixes }],
  ])('are not asked about while %s', async (_, each) => {
    expect(await played(each)).toEqual({ rows: [], asked: 0 });
  });

  test('have no row if there are none', async () => {
    expect(await played({ left: 5 })).toEqual({ rows: [], asked: 1 });
  });

  test('for prefixes are fine where nodes get prefixes', async () => {
    const reserved = [['10.0.0.192/26', 'prefix']] as const;

    expect(await played({ reserved, left: 3, flags: prefixes })).toEqual({
      rows: [`ok beside 3 free addresses, ${ids.nodes} has 64 that are reserved: 10.0.0.192/26 for prefixes`],
      asked: 1,
    });
  });

  test('are all named, if one keeps addresses from nodes', async () => {
    const reserved = [
      ['10.0.0.128/26', 'prefix'],
      ['10.0.0.192/26', 'explicit'],
    ] as const;

    expect((await played({ reserved, left: 3, flags: prefixes })).rows).toEqual([
      `warning beside 3 free addresses, ${ids.nodes} has 128 that are reserved: 10.0.0.128/26 for prefixes, 10.0.0.192/26 for addresses that a request names`,
    ]);
  });

  test('are a note where the question is denied', async () => {
    const prepare = (world: World): void =>
      void world.fault('GetSubnetCidrReservations', {
        kind: 'error',
        code: 'UnauthorizedOperation',
        status: 403,
        message: 'no',
      });

    expect((await played({ left: 5, prepare })).rows).toEqual([
      expect.stringMatching(/^ok not known: GetSubnetCidrReservations failed: UnauthorizedOperation/),
    ]);
  });
});
