import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import { readInfrastructure } from '../../../../src/providers/aws/read-infrastructure.ts';
import { context, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';
import { options } from './read-rig.ts';

describe('a network whose subnets cannot be read together', () => {
  const zones = ['us-east-1a', 'us-east-1b', 'us-east-1a', '../etc'];
  const zoneOf = (input: object): string | undefined =>
    (input as { Filters: { Name: string; Values: string[] }[] }).Filters.find(
      ({ Name }) => Name === 'availability-zone',
    )?.Values[0];

  function failing(isFailing: (zone: string | undefined) => boolean, code = 'InternalError') {
    return ec2ClientRig(({ action, input }) => {
      const zone = zoneOf(input);
      if (action !== 'DescribeSubnets') return { Vpcs: [], RouteTables: [], SecurityGroups: [] };
      if (!isFailing(zone))
        return {
          Subnets: [
            {
              SubnetId: 'subnet-0000000a',
              VpcId: 'vpc-00000001',
              AvailabilityZone: zone,
              CidrBlock: '10.0.0.0/24',
              AvailableIpAddressCount: 9,
            },
          ],
        };
      const result = code === 'InternalError' ? 'noAnswer' : 'refused';
      throw new CallError({ result, code, message: 'no' });
    });
  }

  test('is read zone by zone, and names the missing one', async () => {
    const { client, sent } = failing((zone) => zone !== 'us-east-1a');

    const read = await readInfrastructure({ client, options: { ...options, zones }, context }, [
      'vpc-00000001',
    ]);

    const asked = sent.filter(({ action }) => action === 'DescribeSubnets').map(({ input }) => zoneOf(input));
    expect(asked).toEqual([undefined, 'us-east-1a', 'us-east-1b']);
    expect([...read.infrastructure.subnets.keys()]).toEqual(['subnet-0000000a']);
    expect([...(read.infrastructure.unreadZones ?? [])]).toEqual([
      ['us-east-1b', expect.objectContaining({ kind: 'unreachable' })],
    ]);
    expect(read.problems).toEqual([
      { what: 'zone', id: 'us-east-1b', problem: 'its subnets cannot be read: InternalError: no' },
    ]);
  });

  test.each([
    ['no zone can be read either', zones, 'InternalError', 3],
    ['all nodes are in one zone', ['us-east-1a'], 'InternalError', 1],
    ['it is not permitted', zones, 'UnauthorizedOperation', 1],
  ])('is not read when %s', async (_, named, code, calls) => {
    const { client, sent } = failing(() => true, code);

    const failure = await failureOfRead(
      readInfrastructure({ client, options: { ...options, zones: named }, context }, ['vpc-00000001']),
    );

    expect(failure?.code).toBe(code);
    expect(sent.filter(({ action }) => action === 'DescribeSubnets')).toHaveLength(calls);
  });
});
