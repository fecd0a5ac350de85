import { expect, test } from '@jest/globals';
import { nodeOf } from '../cilium-nodes.ts';
import { DryRunLog } from '../../../../src/node/reconcile/dry-run-log.ts';
import type { DryRunDecision } from '../../../../src/node/reconcile/node-event.ts';

const step = (count: number) =>
  ({
    kind: 'step',
    step: { kind: 'allocateIPs', interfaceId: 'eni-1', subnetId: 'subnet-1', count },
  }) as const;
const write = { kind: 'write', write: { part: 'spec', patch: { ipam: {} } } } as const;

test('a dry run logs each decision once while it stays the same', () => {
  const reported: DryRunDecision[] = [];
  const dryRunLog = new DryRunLog(
    { emit: (event) => event.kind === 'dryRun' && reported.push(event.decision) },
    { node: nodeOf({}) },
  );

  dryRunLog.show('step', [step(8)]);
  dryRunLog.show('write', [write]);
  dryRunLog.show('step', [step(8)]);
  dryRunLog.show('step', [step(8), step(2)]);
  dryRunLog.show('step', []);
  dryRunLog.show('write', [write]);
  dryRunLog.show('step', [step(8)]);

  expect(reported).toEqual([step(8), write, step(2), step(8)]);
});
