import { describe, expect, test } from '@jest/globals';
import { warnOfMissingAccess } from '../../../../src/controller/reporting/access-warnings.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { ScriptedTransport } from '../../kubernetes/scripted-transport.ts';

interface Attributes {
  readonly verb: string;
  readonly resource: string;
}

/** Log messages at the start of a process with the permissions of `isAllowed`. */
async function warnings(isAllowed: (attributes: Attributes) => boolean): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const log = recordingLogger();
  const options = { k8sNamespace: 'kube-system', leaderElection: true, leaderElectionLeaseName: 'headwater' };
  const kubernetes = new ScriptedTransport(clock, ({ body = '{}' }) => {
    const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Attributes } };
    return { status: 201, body: { status: { allowed: isAllowed(spec.resourceAttributes) } } };
  });
  const stop = new AbortController();
  const scope = { mode: 'eni' } as const;
  await warnOfMissingAccess({ options, scope, kubernetes, log, clock }, () => stop.abort(), stop.signal);
  return log.lines.map(({ message }) => message);
}

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
