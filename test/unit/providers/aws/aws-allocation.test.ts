import { describe, expect, test } from '@jest/globals';
import { waitingFor } from '../budget-rig.ts';
import { awsAllocation } from '../../../../src/providers/aws/aws-allocation.ts';
import { context, edgeRig } from './edge-rig.ts';

describe('AWS, as the core sees it', () => {
  const options = { pageSize: 1000, instanceTags: {}, subnetIds: [], subnetTags: {} };

  test('takes a token of each call of a group at once', async () => {
    const { clock, budget, edge } = edgeRig(() => ({}), { bucket: { capacity: 1, refill: 1 } });
    const aws = awsAllocation(edge, options);

    await aws.admit(['createInterface', 'attachInterface'], context);
    void aws.admit(['createInterface', 'attachInterface'], context);
    await clock.advance(500);

    expect([
      waitingFor(budget, 'CreateNetworkInterface'),
      waitingFor(budget, 'AttachNetworkInterface'),
    ]).toEqual([1, 1]);
    expect(waitingFor(budget, 'AssignPrivateIpAddresses')).toBe(0);
  });

  test('asks for as many values as one filter takes', () => {
    const { edge } = edgeRig(() => ({}));

    const { mostInstancesPerLook, mostTypesPerRead, statusKey } = awsAllocation(edge, options);

    expect({ mostInstancesPerLook, mostTypesPerRead, statusKey }).toEqual({
      mostInstancesPerLook: 200,
      mostTypesPerRead: 200,
      statusKey: 'eni',
    });
  });
});
