import { describe, expect, test } from '@jest/globals';
import { nodeOf } from '../cilium-nodes.ts';
import { DryRunLog } from '../../../../src/node/reconcile/dry-run-log.ts';
import type { DryRunDecision } from '../../../../src/node/reconcile/node-event.ts';
import {
  MutationPermission,
  noPauses,
  type Pauses,
} from '../../../../src/providers/gate/mutation-permission.ts';

const step = (count: number) =>
  ({
    kind: 'step',
    step: { kind: 'allocateIPs', interfaceId: 'eni-1', subnetId: 'subnet-1', count },
  }) as const;
const write = { kind: 'write', write: { part: 'spec', patch: { ipam: {} } } } as const;

function rig(stops: Partial<Pauses>) {
  const permission = new MutationPermission({ ...noPauses, ...stops });
  const reported: DryRunDecision[] = [];
  return {
    permission,
    reported,
    dryRunLog: new DryRunLog(
      { emit: (event) => event.kind === 'dryRun' && reported.push(event.decision) },
      { node: nodeOf({}), refusal: (activity) => permission.refusal(activity) },
    ),
  };
}

describe('a dry run', () => {
  test('logs each decision once while it stays the same', () => {
    const { dryRunLog, reported } = rig({ dryRun: true });

    dryRunLog.show('step', [step(8)]);
    dryRunLog.show('write', [write]);
    dryRunLog.show('step', [step(8)]);
    dryRunLog.show('step', [step(8), step(2)]);
    dryRunLog.show('step', []);
    dryRunLog.show('write', [write]);
    dryRunLog.show('step', [step(8)]);

    expect(reported).toEqual([step(8), write, step(2), step(8)]);
  });

  test.each<Partial<Pauses>>([{}, { pause: ['mutations'] }, { conflictingWriter: 'atWork' }])(
    'logs nothing for %j',
    (stops) => {
      const { dryRunLog, reported } = rig(stops);

      dryRunLog.show('step', [step(8)]);
      dryRunLog.show('write', [write]);

      expect(reported).toEqual([]);
    },
  );

  test('logs everything again in another dry run', () => {
    const { dryRunLog, reported, permission } = rig({ dryRun: true });

    dryRunLog.show('step', [step(8)]);
    permission.change({ dryRun: false });
    dryRunLog.show('step', [step(8)]);
    permission.change({ dryRun: true });
    dryRunLog.show('step', [step(8)]);

    expect(reported).toHaveLength(2);
  });
});
