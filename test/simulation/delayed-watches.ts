// Delays the watches of agents or controllers, so that they learn late of writes to CiliumNodes.
import type { Clock } from '../../src/runtime/clock.ts';
import type { Faults } from '../../src/simulator/kubernetes/faults/faults.ts';

/** The part of a harness that delays need. */
interface Watched {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly cluster: { readonly kubernetes: { readonly faults: Pick<Faults, 'inject' | 'rules'> } };
}

/** Limit for the events of one agent, in ms: by then the invariants count it as told. */
export const maxAgentLag = 170_000;

export interface Delay {
  /** Delay of each event, in ms. */
  readonly ms: number;
  /** How long events from now on are delayed, in ms. */
  readonly during: number;
}

/** Delays events about CiliumNodes for controllers. */
export function delayControllerWatches(harness: Watched, delay: Delay): void {
  delayEvents(harness, /ciliumnodes\?(?!.*fieldSelector).*watch=/, delay);
}

/**
 * Delays events about its CiliumNode for the agent of a node. Several faults may strike at the same write and their
 * delays add up, but only up to the limit.
 */
export function delayAgentWatch(harness: Watched, name: string, ms: number): void {
  const path = new RegExp(`ciliumnodes\\?.*${name}.*`);
  let lag = 0;
  for (const { path: other, effect } of harness.cluster.kubernetes.faults.rules())
    if (effect.kind === 'delayEvents' && other?.source === path.source) lag += effect.ms;
  delayEvents(harness, path, { ms: Math.min(ms, maxAgentLag - lag), during: 1000 });
}

function delayEvents(harness: Watched, path: RegExp, { ms, during }: Delay): void {
  const effect = { kind: 'delayEvents', ms } as const;
  const end = harness.cluster.kubernetes.faults.inject({ path, times: Infinity, effect });
  harness.clock.schedule(during, end);
}
