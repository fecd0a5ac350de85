import { describe, expect, test } from '@jest/globals';
import { KubernetesAccess } from '../../../../src/controller/reporting/access-warnings.ts';
import { noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { ScriptedTransport } from '../../kubernetes/scripted-transport.ts';

interface Attributes {
  readonly verb: string;
  readonly resource: string;
}

/** What a process finds that starts with the permissions of `isAllowed`. */
async function started(isAllowed: (attributes: Attributes) => boolean, dryRun = false) {
  const clock = new VirtualClock();
  const log = recordingLogger();
  const options = {
    k8sNamespace: 'kube-system',
    leaderElection: true,
    leaderElectionLeaseName: 'headwater',
    nodeSelector: undefined,
  };
  const kubernetes = new ScriptedTransport(clock, ({ body = '{}' }) => {
    const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Attributes } };
    return { status: 201, body: { status: { allowed: isAllowed(spec.resourceAttributes) } } };
  });
  const permission = { pauses: { ...noPauses, dryRun } };
  const access = new KubernetesAccess({ options, kubernetes, log, clock, permission });
  const stop = new AbortController();
  const running = access.run({ mode: 'eni' }, stop.signal);
  await clock.advance(1000);
  return { access, clock, log, end: () => (stop.abort(), running) };
}

async function warnings(isAllowed: (attributes: Attributes) => boolean): Promise<readonly string[]> {
  const { log, end } = await started(isAllowed);
  await end();
  return log.lines.map(({ message }) => message);
}

describe('what is missing', () => {
  test.each([
    ['asked for again in a dry run', true, 0],
    ['not asked for again otherwise', false, 1],
  ])('is %s', async (_, dryRun, count) => {
    let isGranted = false;
    const { access, clock, end } = await started(
      ({ verb, resource }) => isGranted || verb !== 'patch' || resource !== 'ciliumnodes',
      dryRun,
    );

    expect(access.missing).toMatchObject([
      { verb: 'patch', resource: 'ciliumnodes' },
      { verb: 'patch', resource: 'ciliumnodes/status' },
    ]);
    expect(access.leaseProblem).toBeUndefined();

    isGranted = true;
    await clock.advance(60_000);

    expect(access.missing).toHaveLength(count * 2);
    await end();
  });

  test('is a problem if it concerns the Lease, until it is granted', async () => {
    let isGranted = false;
    const { access, clock, end } = await started(
      ({ verb, resource }) => isGranted || verb !== 'update' || resource !== 'leases',
    );

    expect(access.leaseProblem).toMatch(/^may not update the Lease headwater in kube-system: /);

    isGranted = true;
    await clock.advance(60_000);

    expect(access.leaseProblem).toBeUndefined();
    await end();
  });
});

describe('the warning about missing roles', () => {
  test('is one line if there are no roles', async () => {
    expect(await warnings(() => false)).toEqual([
      'no permissions in this cluster: bind the roles of the chart to the service account (rbac.create)',
    ]);
  });

  test('has each verb if some of them are granted', async () => {
    expect(await warnings(({ verb, resource }) => verb !== 'watch' || resource === 'pods')).toEqual([
      'may not watch ciliumnodes: a role must grant it',
      'may not watch nodes: a role must grant it',
    ]);
  });

  test('is absent with the roles of the chart', async () => {
    expect(await warnings(() => true)).toEqual([]);
  });
});
