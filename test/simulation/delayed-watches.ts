// Delays the watches of agents or controllers, so that they learn late of writes to CiliumNodes.
import type { Harness } from './harness.ts';

export interface Delay {
  /** Delay of each event, in ms. */
  readonly ms: number;
  /** How long events from now on are delayed, in ms. */
  readonly during: number;
}

/** Delays events about CiliumNodes for controllers. */
export function delayControllerWatches(harness: Harness, delay: Delay): void {
  delayEvents(harness, /ciliumnodes\?(?!.*fieldSelector).*watch=/, delay);
}

/** Delays events about its CiliumNode for the agent of a node. */
export function delayAgentWatch(harness: Harness, name: string, ms: number): void {
  delayEvents(harness, new RegExp(`ciliumnodes\\?.*${name}.*`), { ms, during: 1000 });
}

function delayEvents(harness: Harness, path: RegExp, { ms, during }: Delay): void {
  const effect = { kind: 'delayEvents', ms } as const;
  const end = harness.cluster.kubernetes.faults.inject({ path, times: Infinity, effect });
  harness.clock.schedule(during, end);
}
