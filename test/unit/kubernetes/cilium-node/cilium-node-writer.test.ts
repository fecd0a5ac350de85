import { describe, expect, test } from '@jest/globals';
import { CiliumNodeWriter } from '../../../../src/kubernetes/cilium-node/cilium-node-writer.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';

const never = new AbortController().signal;
const target = { name: 'node-1', uid: 'uid-1', resourceVersion: '42' };

function rig(script: Script): { writer: CiliumNodeWriter; transport: ScriptedTransport } {
  const transport = new ScriptedTransport(new VirtualClock(), () => script);
  return { writer: new CiliumNodeWriter(transport), transport };
}

describe('CiliumNodeWriter', () => {
  test('patches spec and status where each lives, bound to the state they were computed from', async () => {
    const { writer, transport } = rig({ status: 200, body: { metadata: { resourceVersion: '43' } } });

    const spec = await writer.patchSpec(target, { ipam: { pool: { '10.0.0.1': null } } }, never);
    await writer.patchStatus(target, { ipam: { 'operator-status': { error: 'x' } } }, never);

    expect(spec).toEqual({ kind: 'written', raw: { metadata: { resourceVersion: '43' } } });
    expect(transport.requests.map(({ method, path, contentType }) => [method, path, contentType])).toEqual([
      ['PATCH', '/apis/cilium.io/v2/ciliumnodes/node-1', 'application/merge-patch+json'],
      ['PATCH', '/apis/cilium.io/v2/ciliumnodes/node-1/status', 'application/merge-patch+json'],
    ]);
    expect(transport.requests.map(({ body }) => JSON.parse(body ?? '') as unknown)).toEqual([
      { metadata: { uid: 'uid-1', resourceVersion: '42' }, spec: { ipam: { pool: { '10.0.0.1': null } } } },
      {
        metadata: { uid: 'uid-1', resourceVersion: '42' },
        status: { ipam: { 'operator-status': { error: 'x' } } },
      },
    ]);
  });

  test('sends nothing once another process may lead', async () => {
    const transport = new ScriptedTransport(new VirtualClock(), () => ({ status: 200, body: {} }));
    const writer = new CiliumNodeWriter(transport, () => false);

    const outcomes = [await writer.patchSpec(target, {}, never), await writer.patchStatus(target, {}, never)];

    expect(outcomes.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable']);
    expect(transport.requests).toEqual([]);
  });

  test.each<[string, Script, object]>([
    ['409', status(409, 'modified'), { kind: 'conflict', message: 'modified' }],
    [
      '422 for the uid',
      status(422, 'immutable', { causes: [{ field: 'metadata.uid' }] }),
      { kind: 'conflict', message: 'immutable' },
    ],
    [
      '422 for the resource version',
      status(422, 'must match', { causes: [{ field: 'metadata.resourceVersion' }] }),
      { kind: 'conflict', message: 'must match' },
    ],
    [
      '422 for something else',
      status(422, 'too low', { causes: [{ field: 'spec.ipam.pre-allocate' }] }),
      { kind: 'invalid', message: 'too low' },
    ],
    ['400', status(400, 'cannot be decoded'), { kind: 'invalid', message: 'cannot be decoded' }],
    [
      '400 for the resource version',
      status(400, 'cannot be parsed', { causes: [{ field: 'metadata.resourceVersion' }] }),
      { kind: 'invalid', message: 'cannot be parsed' },
    ],
    ['404', status(404, 'not found'), { kind: 'gone' }],
    [
      '403',
      status(403, 'forbidden for system:serviceaccount:x'),
      {
        kind: 'denied',
        message:
          'allow Headwater to patch ciliumnodes/status of cilium.io: forbidden for system:serviceaccount:x',
      },
    ],
    [
      '401',
      status(401, 'Unauthorized'),
      { kind: 'unavailable', message: expect.stringContaining('credentials') },
    ],
    ['503', status(503, 'away'), { kind: 'unavailable', message: 'away' }],
    ['429', { status: 429, retryAfterMs: 4000 }, { kind: 'unavailable', retryAfterMs: 4000 }],
    ['no answer', unreachable(), { kind: 'unavailable', message: 'the connection broke' }],
  ])('returns %s as a value', async (_what, script, outcome) => {
    const { writer } = rig(script);

    expect(await writer.patchStatus(target, {}, never)).toMatchObject(outcome);
  });

  test.each<[string, Script, object]>([
    ['an object', { status: 200, body: { spec: {} } }, { kind: 'found', raw: { spec: {} } }],
    ['none', status(404, 'not found'), { kind: 'gone' }],
    [
      'no permission',
      status(403, 'no'),
      { kind: 'denied', message: 'allow Headwater to get ciliumnodes of cilium.io: no' },
    ],
    ['no answer', unreachable(), { kind: 'unavailable' }],
  ])('reads live: %s', async (_what, script, outcome) => {
    const { writer, transport } = rig(script);

    expect(await writer.get('node-1', never)).toMatchObject(outcome);
    expect(transport.requests[0]).toMatchObject({
      method: 'GET',
      path: '/apis/cilium.io/v2/ciliumnodes/node-1',
    });
  });
});
