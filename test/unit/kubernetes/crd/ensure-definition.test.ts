import { describe, expect, test } from '@jest/globals';
import { ensureDefinition, isLower } from '../../../../src/kubernetes/crd/ensure-definition.ts';
import { ciliumNodeDefinition } from '../../../../src/kubernetes/crd/cilium-definitions.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ScriptedTransport } from '../scripted-transport.ts';

const established = { conditions: [{ type: 'Established', status: 'True' }] };

function definition(labels: object, status: object = established): object {
  return {
    ...ciliumNodeDefinition,
    metadata: { name: 'ciliumnodes.cilium.io', resourceVersion: '7', labels },
    status,
  };
}

const ours = { 'app.kubernetes.io/managed-by': 'headwater' };
const version = 'io.cilium.k8s.crd.schema.version';

interface Outcome {
  readonly outcome: Awaited<ReturnType<typeof ensureDefinition>>;
  readonly sent: readonly string[];
}

/** `found`: what the cluster has; undefined for nothing. `creation`: the status of a creation. */
async function ensured(found: object | undefined, mayCreate = true, creation = 201): Promise<Outcome> {
  const clock = new VirtualClock();
  const sent: string[] = [];
  let present = found;
  const transport = new ScriptedTransport(clock, ({ method, body }) => {
    sent.push(method);
    if (method === 'GET')
      return present === undefined ? { status: 404, body: {} } : { status: 200, body: present };
    if (creation >= 300) return { status: creation, body: { message: 'no' } };
    present = { ...(JSON.parse(body ?? '{}') as object), status: established };
    return { status: creation, body: present };
  });
  const ensuring = ensureDefinition(
    { definition: ciliumNodeDefinition, transport, clock, mayCreate },
    new AbortController().signal,
  );
  let outcome: Outcome['outcome'] | undefined;
  void ensuring.then((value) => {
    outcome = value;
  });
  await clock.runUntil(() => outcome !== undefined, 120_000);
  return { outcome: await ensuring, sent };
}

describe('the definition of CiliumNodes', () => {
  test.each<[string, object]>([
    ['of Cilium', { [version]: '1.31.2' }],
    ['of somebody else, without a version', {}],
    ['of our own and of this version', { ...ours, [version]: '0.0.3' }],
    ['of our own and newer', { ...ours, [version]: '0.1.0' }],
  ])('is left as it is: %s', async (_, labels) => {
    expect(await ensured(definition(labels))).toEqual({ outcome: { kind: 'present' }, sent: ['GET'] });
  });

  test('is created where it is absent', async () => {
    expect(await ensured(undefined)).toEqual({
      outcome: { kind: 'created', version: '0.0.3' },
      sent: ['GET', 'POST', 'GET'],
    });
  });

  test('is replaced if it is our own and older', async () => {
    expect(await ensured(definition({ ...ours, [version]: '0.0.0' }))).toEqual({
      outcome: { kind: 'updated', version: '0.0.3' },
      sent: ['GET', 'PUT', 'GET'],
    });
  });

  test.each<[string, Parameters<typeof ensured>, RegExp]>([
    ['not to be created', [undefined, false], /install Cilium, or let Headwater create it/],
    ['denied to us', [undefined, true, 403], /does not create it \(no\)/],
    ['never established', [definition({}, {})], /is missing: it is not served yet/],
  ])('is absent if it is %s', async (_, given, problem) => {
    const { outcome } = await ensured(...given);

    expect(outcome).toEqual({ kind: 'absent', problem: expect.stringMatching(problem) });
  });

  test.each([
    ['0.0.1', '0.0.3', true],
    ['0.9.0', '0.10.0', true],
    ['1.0.0', '0.9.9', false],
    ['1.2', '1.2.0', false],
  ])('has versions that are numbers: %s before %s is %s', (version, other, expected) => {
    expect(isLower(version, other)).toBe(expected);
  });
});
