import { describe, expect, test } from '@jest/globals';
import { lastManagerOf } from '../../../../../src/kubernetes/field-managers.ts';
import type { JsonObject } from '../../../../../src/runtime/json.ts';
import { managerOf } from '../../../../../src/simulator/kubernetes/objects/managed-fields.ts';
import { ciliumNodes, type Rig, rig } from '../model-rig.ts';

test.each([
  ['its own name', 'somebody', 'curl/8.1', 'somebody'],
  [
    'the first word of its user agent',
    null,
    'cilium-operator-aws/v1.17 (linux/amd64)',
    'cilium-operator-aws',
  ],
  ['its whole user agent when that is one word', null, 'headwater', 'headwater'],
  ['its user agent without control characters', null, 'a\u0007b/1', 'ab'],
  ['no more than 128 characters of it', null, 'x'.repeat(200), 'x'.repeat(128)],
  ['an empty name goes by the user agent', '', 'kubectl/v1', 'kubectl'],
  ['nothing at all', null, undefined, 'unknown'],
])('a writer is identified by %s', (_, fieldManager, userAgent, expected) => {
  expect(managerOf(fieldManager, userAgent)).toBe(expected);
});

interface Entry {
  readonly manager: string;
  readonly fieldsV1: object;
  readonly time: string;
  readonly subresource?: string;
}

/** A CiliumNode created by `maker`. */
async function made(spec: object): Promise<Rig & { entries: () => readonly Entry[]; raw: () => JsonObject }> {
  const parts = rig();
  const body = { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name: 'n' }, spec };
  await parts.send('POST', `${ciliumNodes}?fieldManager=maker`, body);
  const raw = (): JsonObject => parts.model.get('ciliumnodes.cilium.io', 'n') as JsonObject;
  const entries = (): readonly Entry[] =>
    (raw() as unknown as { metadata: { managedFields: readonly Entry[] } }).metadata.managedFields;
  return { ...parts, raw, entries };
}

/** `manager subresource fields`, a line each. */
function inShort(entries: readonly Entry[]): readonly string[] {
  return entries.map(
    ({ manager, subresource = '-', fieldsV1 }) =>
      `${manager} ${subresource} ${JSON.stringify(fieldsV1).replaceAll(/"|f:/g, '')}`,
  );
}

const later = { 'user-agent': 'other/1.0' };
const pool = (...addresses: string[]): object => ({
  pool: Object.fromEntries(addresses.map((address) => [address, { resource: 'eni-1' }])),
});

describe('managed fields', () => {
  test.each<[string, object, string, object, readonly string[]]>([
    [
      'that gets another value goes to the manager that set it',
      { ipam: { 'pre-allocate': 8, 'min-allocate': 1 } },
      '',
      { spec: { ipam: { 'pre-allocate': 9 } } },
      ['maker - {spec:{ipam:{min-allocate:{}}}}', 'other - {spec:{ipam:{pre-allocate:{}}}}'],
    ],
    [
      'that are removed belong to no client',
      { ipam: { 'pre-allocate': 8, 'min-allocate': 1 } },
      '',
      { spec: { ipam: { 'pre-allocate': null } } },
      ['maker - {spec:{ipam:{min-allocate:{}}}}'],
    ],
    [
      'of a map belong to both clients that set something in it',
      { ipam: pool('10.0.0.1') },
      '',
      { spec: { ipam: pool('10.0.0.2') } },
      ['maker - {spec:{ipam:{pool:{}}}}', 'other - {spec:{ipam:{pool:{}}}}'],
    ],
    [
      'of a map do not belong to a client that only removed something',
      { ipam: pool('10.0.0.1', '10.0.0.2') },
      '',
      { spec: { ipam: { pool: { '10.0.0.2': null } } } },
      ['maker - {spec:{ipam:{pool:{}}}}'],
    ],
    [
      'of the status are kept apart from those of the object',
      { ipam: pool('10.0.0.1') },
      '/status',
      { status: { eni: { enis: { 'eni-1': { id: 'eni-1' } } } } },
      ['maker - {spec:{ipam:{pool:{}}}}', 'other status {status:{eni:{enis:{}}}}'],
    ],
    [
      'of the metadata include labels and everything else that clients set',
      {},
      '',
      { metadata: { labels: { a: 'b' } } },
      ['maker - {spec:{}}', 'other - {metadata:{labels:{a:{}}}}'],
    ],
    [
      'stay as they are when nothing changes',
      { ipam: pool('10.0.0.1') },
      '',
      { spec: { ipam: pool('10.0.0.1') } },
      ['maker - {spec:{ipam:{pool:{}}}}'],
    ],
  ])('%s', async (_, spec, part, patch, expected) => {
    const { send, clock, entries } = await made(spec);
    await clock.advance(5000);

    await send('PATCH', `${ciliumNodes}/n${part}`, patch, later);

    expect(inShort(entries())).toEqual(expected);
  });

  test('have the time at which their manager last changed any of them, a removal included', async () => {
    const { send, clock, entries } = await made({ ipam: { 'pre-allocate': 8, 'min-allocate': 1 } });
    const first = entries()[0]?.time ?? '';
    await clock.advance(5000);

    await send('PATCH', `${ciliumNodes}/n?fieldManager=maker`, { spec: { ipam: { 'min-allocate': null } } });

    const second = entries()[0]?.time ?? '';
    expect(Date.parse(second) - Date.parse(first)).toBe(5000);
  });

  test('are ignored when a client sends them', async () => {
    const { send, entries } = await made({ ipam: { 'pre-allocate': 8 } });
    const managedFields = [{ manager: 'liar', operation: 'Update', fieldsV1: {} }];

    await send('PATCH', `${ciliumNodes}/n`, { metadata: { managedFields, labels: { a: 'b' } } }, later);

    expect(entries().map(({ manager }) => manager)).toEqual(['maker', 'other']);
  });

  test('name the last writer of a pool and of interfaces', async () => {
    const { send, clock, raw } = await made({ ipam: pool('10.0.0.1') });
    await clock.advance(5000);

    await send('PATCH', `${ciliumNodes}/n`, { spec: { ipam: pool('10.0.0.2') } }, later);
    await send('PATCH', `${ciliumNodes}/n/status?fieldManager=third`, { status: { eni: { enis: {} } } });

    expect(lastManagerOf(raw(), 'spec', 'ipam', 'pool')).toBe('other');
    expect(lastManagerOf(raw(), 'status', 'eni')).toBe('third');
  });
});
