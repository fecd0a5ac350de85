// What is common to agents of both protocols, seen from outside: their life, the addresses they give to pods, and what
// they noticed. An agent speaks to nobody but the Kubernetes API.
import type { Protocol } from './node-facts.ts';
import type { Violation } from './violation-log.ts';

export type AgentPhase = 'new' | 'starting' | 'serving' | 'stopped';

/** What an attempt to give an address to a pod came to. */
export type CniAnswer =
  | { readonly kind: 'allocated'; readonly address: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The agent does not serve pods now; it did not even count the attempt. */
  | { readonly kind: 'unavailable' };

export interface Agent {
  readonly nodeName: string;
  readonly protocol: Protocol;
  readonly phase: AgentPhase;
  /** Everything noticed on this machine, by this agent and by those before it. */
  readonly violations: readonly Violation[];

  /** Begins its life; once only. It serves pods as soon as its protocol lets it. */
  start(): void;
  /** Ends it, as a process ends: nothing more is written. Resolves once all is quiet. */
  stop(): Promise<void>;
  /** Gives an address to `owner`, the one it has if it has one. */
  add(owner: string): CniAnswer;
  /** Takes the address of `owner` back, also while the agent is down. */
  remove(owner: string): void;
  /** Address to owner (`namespace/name` of a pod, or what the agent takes for itself): the truth of this machine. */
  addressesInUse(): ReadonlyMap<string, string>;
  /** The subset of the addresses in use that the CiliumNode does not offer at this moment. */
  missingAddresses(): ReadonlyMap<string, string>;
}
