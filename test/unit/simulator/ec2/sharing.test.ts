import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { createEc2 } from '../../../../src/simulator/ec2/create-ec2.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { topologyFrom } from '../cloud/network-rig.ts';

const owner = '444455556666';
const [we, they, others] = ['123456789012', owner, '777788889999'].map((account) => ({
  arn: `arn:aws:iam::${account}:user/tester`,
}));

const cloud = `
vpcs:
  - { name: shared, id: vpc-00000001, owner: '${owner}', blocks: [10.0.0.0/16], tags: { team: net } }
  - { name: ours, id: vpc-00000002, blocks: [10.1.0.0/16] }
subnets:
  - { name: a, id: subnet-0000000a, vpc: shared, zone: us-east-1a, block: 10.0.0.0/24, tags: { use: pods } }
  - { name: b, id: subnet-0000000b, vpc: ours, zone: us-east-1a, block: 10.1.0.0/24, tags: { use: pods } }
routeTables: [{ name: t, id: rtb-00000001, vpc: shared, subnets: [a] }]
securityGroups: [{ name: g, id: sg-00000001, vpc: shared, tags: { use: pods } }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
limits: { throttle: THROTTLE, scale: 0.01 }
`;

function start(throttle = false) {
  const topology = topologyFrom(cloud.replace('THROTTLE', String(throttle)));
  const { gateway } = createEc2({ topology, clock: new VirtualClock(), random: new Random('sharing') });
  return {
    call: (caller: typeof we, action: string, input = {}) =>
      gateway.call(action, input, caller ?? { arn: '' }),
    subnets: async (caller: typeof we, input = {}) => {
      const { Subnets = [] } = await gateway.call('DescribeSubnets', input, caller ?? { arn: '' });
      return (Subnets as { SubnetId: string; OwnerId: string; Tags: { Key: string }[] }[]).map(
        ({ SubnetId, OwnerId, Tags }) => [
          SubnetId,
          OwnerId,
          Tags.map(({ Key }) => Key)
            .toSorted()
            .join(),
        ],
      );
    },
  };
}

const byTag = { Filters: [{ Name: 'tag:use', Values: ['pods'] }] };

describe('a VPC whose owner shares its subnets', () => {
  test('is shown to us with its owner and without tags, beside our own', async () => {
    const { subnets, call } = start();

    expect(await subnets(we)).toEqual([
      ['subnet-0000000a', owner, ''],
      ['subnet-0000000b', '123456789012', 'Name,use'],
    ]);
    expect(await subnets(we, byTag)).toEqual([['subnet-0000000b', '123456789012', 'Name,use']]);
    expect(await call(we, 'DescribeVpcs', { VpcIds: ['vpc-00000001'] })).toMatchObject({
      Vpcs: [{ OwnerId: owner, Tags: [] }],
    });
    expect(await call(we, 'DescribeRouteTables', { RouteTableIds: ['rtb-00000001'] })).toMatchObject({
      RouteTables: [{ OwnerId: owner, Tags: [] }],
    });
  });

  test('is shown to its owner with its tags, and nothing of ours is', async () => {
    const { subnets } = start();

    expect(await subnets(they)).toEqual([['subnet-0000000a', owner, 'Name,use']]);
    expect(await subnets(they, byTag)).toEqual([['subnet-0000000a', owner, 'Name,use']]);
    expect(await subnets(others)).toEqual([]);
    await expect(subnets(they, { SubnetIds: ['subnet-0000000b'] })).rejects.toMatchObject({
      code: 'InvalidSubnetID.NotFound',
    });
  });

  test('holds security groups of ours, whose tags we see', async () => {
    const { call } = start();

    expect(await call(we, 'DescribeSecurityGroups', { GroupIds: ['sg-00000001'] })).toMatchObject({
      SecurityGroups: [
        { OwnerId: '123456789012', Tags: expect.arrayContaining([{ Key: 'use', Value: 'pods' }]) },
      ],
    });
    await expect(call(they, 'DescribeSecurityGroups')).rejects.toMatchObject({
      code: 'UnauthorizedOperation',
    });
  });

  test('is read within the limits of the account that reads', async () => {
    const { subnets } = start(true);
    await subnets(we);

    await expect(subnets(we)).rejects.toMatchObject({ code: 'RequestLimitExceeded' });
    expect(await subnets(they)).toHaveLength(1);
  });
});
