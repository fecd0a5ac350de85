import { options } from './read-rig.ts';
import { describe, expect, test } from '@jest/globals';
import { waitingFor } from '../rate-limiter-rig.ts';
import { awsAllocation } from '../../../../src/providers/aws/aws-allocation.ts';
import { context, ec2ClientRig } from './ec2-client-rig.ts';

describe('the AWS allocation port', () => {
  test('takes the tokens of all calls of a group at once', async () => {
    const { clock, rateLimiter, client } = ec2ClientRig(() => ({}), { bucket: { capacity: 1, refill: 1 } });
    const aws = awsAllocation(client, options);

    await aws.admit(['createInterface', 'attachInterface'], context);
    void aws.admit(['createInterface', 'attachInterface'], context);
    await clock.advance(500);

    expect([
      waitingFor(rateLimiter, 'CreateNetworkInterface'),
      waitingFor(rateLimiter, 'AttachNetworkInterface'),
    ]).toEqual([1, 1]);
    expect(waitingFor(rateLimiter, 'AssignPrivateIpAddresses')).toBe(0);
  });

  test('requests at most as many values as one filter takes', () => {
    const { client } = ec2ClientRig(() => ({}));

    const { maxInstancesPerRefresh, maxTypesPerRead, section } = awsAllocation(client, options);

    expect({ maxInstancesPerRefresh, maxTypesPerRead, key: section.key }).toEqual({
      maxInstancesPerRefresh: 200,
      maxTypesPerRead: 200,
      key: 'eni',
    });
  });
});
