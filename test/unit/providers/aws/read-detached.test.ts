import { describe, expect, test } from '@jest/globals';
import type { Ec2NetworkInterface } from '../../../../src/providers/aws/ec2-api.ts';
import { readDetached } from '../../../../src/providers/aws/read.ts';
import { ec2Interface } from './ec2-shapes.ts';
import { context, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';

const tags = { managed: 'true', cluster: 'blue' };
const scope = { tags, networkId: undefined };

/** A detached interface with the requested tags. */
function detached(change: Partial<Ec2NetworkInterface> = {}): Ec2NetworkInterface {
  const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  return ec2Interface({ Attachment: undefined, TagSet, ...change });
}

describe('a listing of detached interfaces', () => {
  test('requests those with the tags, page by page', async () => {
    const pages = [
      { NetworkInterfaces: [detached()], NextToken: 'two' },
      { NetworkInterfaces: [detached({ NetworkInterfaceId: 'eni-2' })] },
    ];
    const { client, sent } = ec2ClientRig((_, number) => pages[number]);

    const { startedAt, interfaces } = await readDetached(client, scope, 500, context);

    const Filters = [
      { Name: 'status', Values: ['available'] },
      { Name: 'tag:managed', Values: ['true'] },
      { Name: 'tag:cluster', Values: ['blue'] },
    ];
    expect(sent.map(({ action, input }) => [action, input])).toEqual([
      ['DescribeNetworkInterfaces', { Filters, MaxResults: 500 }],
      ['DescribeNetworkInterfaces', { Filters, MaxResults: 500, NextToken: 'two' }],
    ]);
    expect(interfaces.map(({ id, attachment }) => [id, attachment])).toEqual([
      ['eni-1', undefined],
      ['eni-2', undefined],
    ]);
    expect(startedAt).toBe(0);
  });

  test('takes the tags literally', async () => {
    const { client, sent } = ec2ClientRig(() => ({ NetworkInterfaces: [] }));

    await readDetached(client, { ...scope, tags: { team: String.raw`a*b?c\d` } }, 500, context);

    expect(JSON.stringify(sent[0]?.input)).toContain(
      JSON.stringify({ Name: 'tag:team', Values: [String.raw`a\*b\?c\\d`] }),
    );
  });

  test('requests those of one network, or by id, when the caller names them', async () => {
    const { client, sent } = ec2ClientRig(() => ({ NetworkInterfaces: [] }));

    await readDetached(client, { tags, networkId: 'vpc-1', ids: ['eni-1', 'eni-2'] }, 1000, context);

    expect(JSON.stringify(sent[0]?.input)).toContain(
      JSON.stringify([
        { Name: 'vpc-id', Values: ['vpc-1'] },
        { Name: 'network-interface-id', Values: ['eni-1', 'eni-2'] },
      ]).slice(1, -1),
    );
  });

  test.each<[string, Ec2NetworkInterface, object]>([
    ['attached', ec2Interface({ TagSet: detached().TagSet }), {}],
    ['without one of the tags', detached({ TagSet: [{ Key: 'managed', Value: 'true' }] }), {}],
    ['without any tag', detached({ TagSet: undefined }), {}],
    ['in another network', detached({ VpcId: 'vpc-2' }), { networkId: 'vpc-1' }],
    ['with another id', detached({ NetworkInterfaceId: 'eni-2' }), { ids: ['eni-1'] }],
    ['that cannot be understood', detached({ MacAddress: undefined }), {}],
  ])('leaves out one %s, even when the server ignores the filters', async (_, shown, more) => {
    const { client } = ec2ClientRig(() => ({ NetworkInterfaces: [shown] }));

    const { interfaces } = await readDetached(client, { ...scope, ...more }, 1000, context);

    expect(interfaces).toEqual([]);
  });

  test('is refused before any request when it has no tags', async () => {
    const { client, sent } = ec2ClientRig(() => ({ NetworkInterfaces: [] }));

    await expect(readDetached(client, { ...scope, tags: {} }, 1000, context)).rejects.toThrow(RangeError);
    expect(sent).toEqual([]);
  });

  test('is an error, not an empty list, when the answer holds no list', async () => {
    const { client } = ec2ClientRig(() => ({}));

    const failure = await failureOfRead(readDetached(client, scope, 1000, context));

    expect(failure?.kind).toBe('unreadable');
  });
});
