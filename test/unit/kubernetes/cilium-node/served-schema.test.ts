import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../../src/runtime/json.ts';
import { readServedSchema, type ServedSchema } from '../../../../src/kubernetes/cilium-node/served-schema.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';

function read(script: Script): Promise<ServedSchema> {
  return readServedSchema(
    new ScriptedTransport(new VirtualClock(), () => script),
    new AbortController().signal,
  );
}

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    status: {
      type: 'object',
      properties: {
        eni: {
          type: 'object',
          properties: {
            enis: {
              type: 'object',
              additionalProperties: {
                type: 'object',
                properties: {
                  id: text,
                  addresses: { type: 'array', items: text },
                  sets: { type: 'array', items: { type: 'object', properties: { ip: text } } },
                  tags: { type: 'object', additionalProperties: text },
                  bare: { type: 'object' },
                },
              },
            },
          },
        },
        loose: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { strict: { type: 'object' } },
        },
        wild: { type: 'object', additionalProperties: true },
      },
    },
  },
};

function definition(...versions: readonly object[]): Script {
  return { status: 200, body: { spec: { versions } } };
}

const served = definition(
  { name: 'v1', served: true, schema: { openAPIV3Schema: {} } },
  { name: 'v2', served: true, schema: { openAPIV3Schema: schema } },
);

describe('ServedSchema', () => {
  test.each<[string, Json, Json]>([
    ['known fields stay', { eni: { enis: { e: { id: 'e' } } } }, { eni: { enis: { e: { id: 'e' } } } }],
    [
      'unknown fields go',
      { eni: { enis: { e: { id: 'e', 'public-ip': 'x' } } }, novelty: 1 },
      { eni: { enis: { e: { id: 'e' } } } },
    ],
    [
      'in items of lists too',
      { eni: { enis: { e: { sets: [{ ip: '1', x: 1 }] } } } },
      { eni: { enis: { e: { sets: [{ ip: '1' }] } } } },
    ],
    [
      'values of lists stay',
      { eni: { enis: { e: { addresses: ['1', '2'] } } } },
      { eni: { enis: { e: { addresses: ['1', '2'] } } } },
    ],
    [
      'entries of maps stay',
      { eni: { enis: { e: { tags: { any: 'x' } } } } },
      { eni: { enis: { e: { tags: { any: 'x' } } } } },
    ],
    [
      'an object without named fields keeps none',
      { eni: { enis: { e: { bare: { x: 1 } } } } },
      { eni: { enis: { e: { bare: {} } } } },
    ],
    [
      'an open object keeps all, but a named field within is strict',
      { loose: { x: { y: 1 }, strict: { z: 1 } } },
      { loose: { x: { y: 1 }, strict: {} } },
    ],
    ['a map of anything keeps all', { wild: { x: { y: [1] } } }, { wild: { x: { y: [1] } } }],
    ['null stays when the field is known', { eni: null, novelty: null }, { eni: null }],
  ])('prunes as the server does: %s', async (_what, value, kept) => {
    const known = await read(served);

    expect(known.source).toEqual({ kind: 'served' });
    expect(known.prune(value, ['status'])).toEqual(kept);
  });

  test('knows which fields are kept', async () => {
    const known = await read(served);

    expect(known.knows(['status', 'eni', 'enis', 'eni-1', 'id'])).toBe(true);
    expect(known.knows(['status', 'eni', 'enis', 'eni-1', 'public-ip'])).toBe(false);
    expect(known.knows(['status', 'loose', 'x', 'y'])).toBe(true);
    expect(known.prune({ a: 1 }, ['status', 'novelty'])).toBeUndefined();
  });

  test.each<[string, Script, string]>([
    ['denied', status(403, 'no'), 'may not get customresourcedefinitions of apiextensions.k8s.io: no'],
    [
      'missing',
      status(404, 'none'),
      'the cluster has no definition ciliumnodes.cilium.io: install Cilium, which registers it (none)',
    ],
    ['out of reach', unreachable(), 'the connection broke'],
    ['without v2', definition({ name: 'v1', served: true }), 'the definition does not serve v2'],
    [
      'with a v2 that is not served',
      definition({ name: 'v2', served: false }),
      'the definition does not serve v2',
    ],
    ['without a schema', definition({ name: 'v2', served: true }), 'the definition gives no schema for v2'],
    ['no definition at all', { status: 200, body: {} }, 'the definition does not serve v2'],
  ])(
    'assumes the fields of all versions, and names the cause, when the read is %s',
    async (_what, script, reason) => {
      const known = await read(script);

      expect(known.source).toMatchObject({ kind: 'assumed', reason });
      expect(known.knows(['spec', 'ipam', 'pool', '10.0.0.1', 'resource'])).toBe(true);
      expect(known.knows(['status', 'ipam', 'release-ips', '10.0.0.1'])).toBe(true);
      expect(known.knows(['status', 'ipam', 'assigned-static-ip'])).toBe(false);
      expect(known.knows(['status', 'azure', 'interfaces', 'any', 'cidr'])).toBe(true);
      expect(known.knows(['status', 'azure', 'interfaces', 'any', 'novelty'])).toBe(false);
      expect(
        known.prune(
          {
            id: 'eni-1',
            number: 1,
            addresses: ['10.0.0.1'],
            vpc: { id: 'vpc-1', cidrs: ['10.0.0.0/8'] },
            tags: { a: 'b' },
            'public-ip': '203.0.113.1',
            'ipv6-prefixes': ['fd00::/80'],
          },
          ['status', 'eni', 'enis', 'eni-1'],
        ),
      ).toEqual({
        id: 'eni-1',
        number: 1,
        addresses: ['10.0.0.1'],
        vpc: { id: 'vpc-1', cidrs: ['10.0.0.0/8'] },
        tags: { a: 'b' },
      });
    },
  );
});
