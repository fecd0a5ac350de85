// Agents or controllers learn late of what is written to CiliumNodes for a while.
import type { Harness } from './harness.ts';

export interface Delay {
  /** Of each event, in ms. */
  readonly ms: number;
  /** Events from now on for so long, in ms. */
  readonly during: number;
}

/** Delays what controllers learn of CiliumNodes. */
export function delayControllerWatches(harness: Harness, delay: Delay): void {
  delayEvents(harness, /ciliumnodes\?(?!.*fieldSelector).*watch=/, delay);
}

/** Delays what the agent of a node learns of what is written to it now. */
export function delayAgentWatch(harness: Harness, name: string, ms: number): void {
  delayEvents(harness, new RegExp(`ciliumnodes\\?.*${name}.*`), { ms, during: 1000 });
}

function delayEvents(harness: Harness, path: RegExp, { ms, during }: Delay): void {
  const effect = { kind: 'delayEvents', ms } as const;
  const end = harness.cluster.kubernetes.faults.inject({ path, times: Infinity, effect });
  harness.clock.schedule(during, end);
}
