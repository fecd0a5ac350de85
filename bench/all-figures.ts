// Every figure, in the order of the table.
import type { CloudFigure } from './figure.ts';
import { answerToOffer } from './figures/answer-to-offer.ts';
import { assignTimeUnscaled } from './figures/assign-time-unscaled.ts';
import { burstLatency } from './figures/burst-latency.ts';
import { burstUpdates } from './figures/burst-updates.ts';
import { callsOverWindow } from './figures/calls-over-window.ts';
import { eventLoopDelay } from './figures/event-loop-delay.ts';
import { idleCpu } from './figures/idle-cpu.ts';
import { idleMutatingCalls } from './figures/idle-mutating-calls.ts';
import { idleReads } from './figures/idle-reads.ts';
import { idleWakeUps } from './figures/idle-wake-ups.ts';
import { idleWrites } from './figures/idle-writes.ts';
import { joinConflicts } from './figures/join-conflicts.ts';
import { joinTime } from './figures/join-time.ts';
import { lastSupplied } from './figures/last-supplied.ts';
import { lastSuppliedOf100 } from './figures/last-supplied-of-100.ts';
import { memoryAboveEmpty } from './figures/memory-above-empty.ts';
import { memoryInAll } from './figures/memory-in-all.ts';
import { memoryBesideReleases } from './figures/memory-beside-releases.ts';
import { modifyCalls } from './figures/modify-calls.ts';
import { mutatingCallsAssign } from './figures/mutating-calls-assign.ts';
import { mutatingCallsCreateAttach } from './figures/mutating-calls-create-attach.ts';
import { readsBesideReleases } from './figures/reads-beside-releases.ts';
import { readsPerNode } from './figures/reads-per-node.ts';
import { readsPerNodeOf100 } from './figures/reads-per-node-of-100.ts';
import { readsPerUpdate } from './figures/reads-per-update.ts';
import { scaleUpReads } from './figures/scale-up-reads.ts';
import { scaleUpTime } from './figures/scale-up-time.ts';
import { scaleUpTimeUnscaled } from './figures/scale-up-time-unscaled.ts';
import { shrinkageUpdates } from './figures/shrinkage-updates.ts';
import { throttledAnswers } from './figures/throttled-answers.ts';
import { throttledBesideAnother } from './figures/throttled-beside-another.ts';
import { throttledBesideReleases } from './figures/throttled-beside-releases.ts';
import { timeBesideAnother } from './figures/time-beside-another.ts';
import { timeBesideReleases } from './figures/time-beside-releases.ts';
import { updatesBesideReleases } from './figures/updates-beside-releases.ts';
import { waitingFirst } from './figures/waiting-first.ts';

export const allFigures: readonly CloudFigure[] = [
  mutatingCallsCreateAttach,
  mutatingCallsAssign,
  modifyCalls,
  scaleUpReads,
  readsPerUpdate,
  readsPerNode,
  readsPerNodeOf100,
  throttledAnswers,
  callsOverWindow,
  scaleUpTime,
  scaleUpTimeUnscaled,
  assignTimeUnscaled,
  answerToOffer,
  lastSupplied,
  lastSuppliedOf100,
  joinConflicts,
  joinTime,
  timeBesideAnother,
  throttledBesideAnother,
  burstLatency,
  burstUpdates,
  shrinkageUpdates,
  updatesBesideReleases,
  readsBesideReleases,
  timeBesideReleases,
  throttledBesideReleases,
  memoryBesideReleases,
  waitingFirst,
  idleMutatingCalls,
  idleWrites,
  idleReads,
  idleCpu,
  idleWakeUps,
  memoryAboveEmpty,
  memoryInAll,
  eventLoopDelay,
];
