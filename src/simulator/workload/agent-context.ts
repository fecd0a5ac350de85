// An agent's environment: its machine, API client, clock and randomness. Both protocols use the same.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Recorder } from './journal.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import type { MachineMemory } from './machine-memory.ts';
import type { NodeFacts } from './node-facts.ts';

export interface AgentContext {
  readonly facts: NodeFacts;
  readonly client: KubernetesClient;
  /** The agent's clock: a faster one shortens all its waits. */
  readonly clock: Clock;
  readonly random: Random;
  readonly memory: MachineMemory;
  readonly record: Recorder;
  /** Maximum delay of an event from the API to the agent, in ms of its pace. */
  readonly watchLag: number;
  /** Maximum time between its CiliumNode and its first look at it, in ms of its pace. */
  readonly startLag: number;
  /** Called for errors that only a bug of the agent can cause. */
  readonly onBug: (error: unknown) => void;
}

/** Minimum time between two writes of an agent to its CiliumNode, in ms: `ipam-cilium-node-update-rate`. */
export const updateInterval = 15_000;
