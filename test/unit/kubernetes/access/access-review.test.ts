import { describe, expect, test } from '@jest/globals';
import { missingAccess } from '../../../../src/kubernetes/access/access-review.ts';
import { neededAccess } from '../../../../src/kubernetes/access/needed-access.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';

const needed = neededAccess({ namespace: 'kube-system', name: 'headwater' });
const forever = new AbortController().signal;

interface Attributes {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
}

function reviewing(answer: (attributes: Attributes) => Script): ScriptedTransport {
  return new ScriptedTransport(new VirtualClock(), ({ body = '{}' }) => {
    const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Attributes } };
    return answer(spec.resourceAttributes);
  });
}

function allowed(isAllowed: boolean): Script {
  return { status: 201, body: { status: { allowed: isAllowed } } };
}

describe('an access review', () => {
  test('names what the API server does not allow', async () => {
    const transport = reviewing(({ verb, subresource }) =>
      allowed(!(verb === 'patch' && subresource === 'status')),
    );

    const missing = await missingAccess(transport, needed, forever);

    expect(missing).toEqual([expect.objectContaining({ verb: 'patch', resource: 'ciliumnodes/status' })]);
    expect(transport.requests).toHaveLength(needed.length);
  });

  test('asks for one object in one namespace when only that is needed', async () => {
    const transport = reviewing(() => allowed(true));

    await missingAccess(transport, needed, forever);

    const asked = transport.requests.map(
      ({ body = '{}' }) => (JSON.parse(body) as { spec: { resourceAttributes: object } }).spec,
    );
    expect(asked).toContainEqual({
      resourceAttributes: {
        verb: 'update',
        group: 'coordination.k8s.io',
        resource: 'leases',
        name: 'headwater',
        namespace: 'kube-system',
      },
    });
  });

  test.each<[string, Script]>([
    ['that cannot be reached', unreachable()],
    ['that refuses to say', status(403, 'Forbidden')],
    ['that answers something else', { status: 201, body: { status: {} } }],
  ])('leaves access unknown for an API server %s', async (_, script) => {
    expect(
      await missingAccess(
        reviewing(() => script),
        needed,
        forever,
      ),
    ).toEqual([]);
  });
});
