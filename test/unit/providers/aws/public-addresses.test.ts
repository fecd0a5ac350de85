import { describe, expect, test } from '@jest/globals';
import { readPublicAddresses } from '../../../../src/providers/aws/public-addresses.ts';
import { context, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';

const Tags = [{ Key: 'pool', Value: 'a' }];

describe('public addresses', () => {
  test('are filtered by their tags, taken literally', async () => {
    const { client, sent } = ec2ClientRig(() => ({ Addresses: [] }));

    await readPublicAddresses(client, { pool: 'a*b?c\\d', more: 'yes' }, context);

    expect(sent).toMatchObject([
      {
        action: 'DescribeAddresses',
        input: {
          Filters: [
            { Name: 'tag:pool', Values: ['a\\*b\\?c\\\\d'] },
            { Name: 'tag:more', Values: ['yes'] },
          ],
        },
      },
    ]);
  });

  test('are read in order of their ids, with the interface that has them', async () => {
    const { client } = ec2ClientRig(() => ({
      Addresses: [
        { AllocationId: 'eipalloc-3', PublicIp: '198.18.0.3', Tags, AssociationId: 'eipassoc-1' },
        { AllocationId: 'eipalloc-2', PublicIp: '198.18.0.2', Tags, NetworkInterfaceId: 'eni-1' },
        { AllocationId: 'eipalloc-1', PublicIp: '198.18.0.1', Tags, InstanceId: '', NetworkInterfaceId: '' },
      ],
    }));

    const { addresses } = await readPublicAddresses(client, { pool: 'a' }, context);

    expect(addresses.map(({ id, taken, interfaceId }) => [id, taken, interfaceId])).toEqual([
      ['eipalloc-1', false, undefined],
      ['eipalloc-2', true, 'eni-1'],
      ['eipalloc-3', true, undefined],
    ]);
  });

  test('are left out when their tags are others or they cannot be read', async () => {
    const { client } = ec2ClientRig(() => ({
      Addresses: [
        { AllocationId: 'eipalloc-1', PublicIp: '198.18.0.1', Tags: [{ Key: 'pool', Value: 'b' }] },
        { AllocationId: 'eipalloc-2', PublicIp: 'nowhere', Tags },
        { PublicIp: '198.18.0.3', Tags },
      ],
    }));

    expect((await readPublicAddresses(client, { pool: 'a' }, context)).addresses).toEqual([]);
  });

  test.each([
    { what: 'a key that is too long', tags: { ['x'.repeat(129)]: 'a' } },
    { what: 'an empty key', tags: { '': 'a' } },
    { what: 'a value that is too long', tags: { pool: 'x'.repeat(257) } },
    {
      what: 'too many',
      tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'a'])),
    },
  ])('are not requested by tags that nothing can carry: $what', async ({ tags }) => {
    const { client, sent } = ec2ClientRig(() => ({ Addresses: [] }));

    expect((await readPublicAddresses(client, tags, context)).addresses).toEqual([]);
    expect(sent).toEqual([]);
  });

  test('are unknown, not none, when the answer holds no list', async () => {
    const { client } = ec2ClientRig(() => ({}));

    const failure = await failureOfRead(readPublicAddresses(client, { pool: 'a' }, context));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeAddresses' });
  });
});
