import { describe, expect, test } from '@jest/globals';
import { readInstanceTag } from '../../../../src/providers/aws/read-instances.ts';
import { context, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';
import { ec2 } from './read-rig.ts';

const what = { key: 'name', pageSize: 500 };

function shown(...items: readonly (readonly [id: string | undefined, tags?: object])[]): object {
  return {
    Reservations: items.map(([InstanceId, tags]) => ({
      Instances: [
        {
          InstanceId,
          Tags: tags && Object.entries(tags).map(([Key, Value]) => ({ Key, Value: String(Value) })),
        },
      ],
    })),
  };
}

describe('a read of a tag of instances', () => {
  test('answers for each instance that is shown, and for no other', async () => {
    const answer = shown(['i-1', { name: 'blue', other: 'x' }], ['i-2', { other: 'x' }], ['i-3']);
    const { client, sent } = ec2({ DescribeInstances: [answer] });

    const found = await readInstanceTag({ client, context }, ['i-1', 'i-2', 'i-3', 'i-4'], what);

    expect([...found]).toEqual([
      ['i-1', ['blue']],
      ['i-2', []],
      ['i-3', []],
    ]);
    expect(sent.map(({ input }) => input)).toEqual([
      { Filters: [{ Name: 'instance-id', Values: ['i-1', 'i-2', 'i-3', 'i-4'] }], MaxResults: 500 },
    ]);
  });

  test('asks for at most 200 instances at once', async () => {
    const ids = Array.from({ length: 450 }, (_, at) => `i-${at}`);
    const { client, sent } = ec2ClientRig(() => shown());

    await readInstanceTag({ client, context }, ids, what);

    const asked = sent.map(({ input }) => (input as { Filters: [{ Values: string[] }] }).Filters[0].Values);
    expect(asked.map(({ length }) => length)).toEqual([200, 200, 50]);
    expect(asked.flat()).toEqual(ids);
  });

  test.each<[string, object]>([
    ['no list', {}],
    ['a reservation without instances', { Reservations: [{}] }],
    ['an instance without an id', shown([undefined, { name: 'blue' }])],
    ['an instance twice', shown(['i-1', { name: 'blue' }], ['i-1', { name: 'green' }])],
    ['an instance that was not asked for', shown(['i-9', { name: 'green' }])],
  ])('fails if the answer has %s', async (_, answer) => {
    const { client } = ec2({ DescribeInstances: [answer] });

    const failure = await failureOfRead(readInstanceTag({ client, context }, ['i-1'], what));

    expect(failure?.kind).toBe('unreadable');
  });
});
