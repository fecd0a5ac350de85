// The common interface of agents of both protocols: lifecycle, address assignment and violations. An agent
// talks only to the Kubernetes API.
import type { Protocol } from './node-facts.ts';
import type { Violation } from './violation-log.ts';

export type AgentPhase = 'new' | 'starting' | 'serving' | 'stopped';

/** The result of an attempt to assign an address to a pod, and one of IPv6 if the agent has that. */
export type CniAnswer =
  | { readonly kind: 'allocated'; readonly address: string; readonly ipv6?: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The agent serves no pods now and did not count the attempt. */
  | { readonly kind: 'unavailable' };

export interface Agent {
  readonly nodeName: string;
  readonly protocol: Protocol;
  readonly phase: AgentPhase;
  /** All violations on this machine, by this agent and earlier ones. */
  readonly violations: readonly Violation[];

  /** Starts the agent; call it once. It serves pods as soon as its protocol allows. */
  start(): void;
  /** Ends like a process: nothing more is written. Resolves once it is idle. */
  stop(): Promise<void>;
  /** Assigns an address to `owner`, or returns its current one. */
  add(owner: string): CniAnswer;
  /** Releases the address of `owner`, even while the agent is down. */
  remove(owner: string): void;
  /** Owner by address (`namespace/name` of a pod, or the agent's own purpose): the truth of this machine. */
  addressesInUse(): ReadonlyMap<string, string>;
  /** The addresses in use that the CiliumNode does not offer now. */
  missingAddresses(): ReadonlyMap<string, string>;
}
