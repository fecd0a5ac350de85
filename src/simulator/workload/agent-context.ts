// What an agent is given to live with: its machine, the way to the API, time and chance. Both protocols take the same.
import type { Clock } from '../../scheduling/clock.ts';
import type { Random } from '../../scheduling/random.ts';
import type { Recorder } from './journal.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import type { MachineMemory } from './machine-memory.ts';
import type { NodeFacts } from './node-facts.ts';

export interface AgentContext {
  readonly facts: NodeFacts;
  readonly client: KubernetesClient;
  /** The agent's pace: a faster clock makes all of its waits shorter. */
  readonly clock: Clock;
  readonly random: Random;
  readonly memory: MachineMemory;
  readonly record: Recorder;
  /** Longest time that an event takes from the API to the agent, in ms of its pace. */
  readonly watchLag: number;
  /** Told what only a bug of the agent can cause. */
  readonly onBug: (error: unknown) => void;
}

/** Least time between two writes of an agent to its CiliumNode, in ms: `ipam-cilium-node-update-rate`. */
export const updateInterval = 15_000;
