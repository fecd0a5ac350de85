// Every figure, in the order of the table.
import type { Figure } from './figure.ts';
import { assignTimeUnscaled } from './figures/assign-time-unscaled.ts';
import { idleCpu } from './figures/idle-cpu.ts';
import { idleMutatingCalls } from './figures/idle-mutating-calls.ts';
import { idleReads } from './figures/idle-reads.ts';
import { idleWrites } from './figures/idle-writes.ts';
import { modifyCalls } from './figures/modify-calls.ts';
import { mutatingCallsAssign } from './figures/mutating-calls-assign.ts';
import { mutatingCallsCreateAttach } from './figures/mutating-calls-create-attach.ts';
import { scaleUpReads } from './figures/scale-up-reads.ts';
import { scaleUpTime } from './figures/scale-up-time.ts';
import { scaleUpTimeUnscaled } from './figures/scale-up-time-unscaled.ts';
import { throttledAnswers } from './figures/throttled-answers.ts';
import { throttledBesideAnother } from './figures/throttled-beside-another.ts';
import { timeBesideAnother } from './figures/time-beside-another.ts';

export const allFigures: readonly Figure[] = [
  mutatingCallsCreateAttach,
  mutatingCallsAssign,
  modifyCalls,
  scaleUpReads,
  throttledAnswers,
  scaleUpTime,
  scaleUpTimeUnscaled,
  assignTimeUnscaled,
  timeBesideAnother,
  throttledBesideAnother,
  idleMutatingCalls,
  idleWrites,
  idleReads,
  idleCpu,
];
