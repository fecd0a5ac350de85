// One node of the fleet with everything on it: its kubelet, its current agent, and the state that outlives that agent.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { AddressLedger } from './address-ledger.ts';
import type { Agent } from './agent.ts';
import type { AgentContext } from './agent-context.ts';
import { CrdAgent } from './crd-agent.ts';
import type { Recorder } from './journal.ts';
import { Kubelet } from './kubelet.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import { MachineMemory } from './machine-memory.ts';
import { MultiPoolAgent } from './multi-pool-agent.ts';
import type { NodeFacts, Protocol } from './node-facts.ts';
import { ViolationLog } from './violation-log.ts';

export interface MachineOptions {
  readonly facts: NodeFacts;
  readonly client: KubernetesClient;
  /** The clock for measurements and timestamps on this machine. */
  readonly clock: Clock;
  /** The clock of agent and kubelet. */
  readonly pace: Clock;
  readonly random: Random;
  readonly watchLag: number;
  readonly startLag: number;
  readonly ledger: AddressLedger;
  readonly record: Recorder;
  readonly onBug: (error: unknown) => void;
}

export class Machine {
  readonly memory: MachineMemory;
  readonly kubelet: Kubelet;
  readonly #options: MachineOptions;
  #facts: NodeFacts;
  readonly #stopping = new AbortController();
  #agent: Agent;
  #protocol: Protocol;
  #generation = 0;
  /** Restarts run one after another. */
  #restarting: Promise<void> = Promise.resolve();

  constructor(options: MachineOptions) {
    const { facts, clock, pace, ledger, record, random } = options;
    this.#options = options;
    this.#facts = facts;
    this.memory = new MachineMemory(facts, ledger, new ViolationLog(facts.name, clock, record));
    this.#protocol = facts.protocol;
    this.#agent = this.#newAgent(facts.protocol);
    this.kubelet = new Kubelet({
      ...options,
      clock: pace,
      stopwatch: clock,
      random: random.fork('kubelet'),
      agent: () => this.#agent,
    });
  }

  get facts(): NodeFacts {
    return this.#facts;
  }

  /** Changes what its agent requests, from the next agent start on. */
  reconfigure(change: Pick<NodeFacts, 'ipam' | 'eni' | 'azure' | 'alibaba'>): void {
    this.#facts = { ...this.#facts, ...change };
  }

  /** The running agent, or the last one while none runs. */
  get agent(): Agent {
    return this.#agent;
  }

  /** The protocol of the running agent or of its replacement. */
  get protocol(): Protocol {
    return this.#protocol;
  }

  start(): void {
    this.#agent.start();
    this.kubelet.start();
  }

  /**
   * Stops the agent and starts one of `protocol` after `downtime` ms of the machine's pace. Pods keep
   * running. Resolves once the new agent was started or the machine stopped.
   */
  restartAgent(protocol: Protocol, downtime: number): Promise<void> {
    this.#protocol = protocol;
    this.#restarting = this.#restarting.then(() => this.#restart(protocol, downtime));
    return this.#restarting;
  }

  /** Stops everything, as in a power failure; its addresses no longer count as in use. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`the machine ${this.#facts.name} stops`));
    await Promise.all([this.#agent.stop(), this.kubelet.stop()]);
    await this.#restarting;
    this.memory.clear();
  }

  async #restart(protocol: Protocol, downtime: number): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    await this.#agent.stop();
    try {
      await sleep(this.#options.pace, downtime, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#agent = this.#newAgent(protocol);
    this.#agent.start();
  }

  #newAgent(protocol: Protocol): Agent {
    const { client, pace, random, watchLag, startLag, record, onBug } = this.#options;
    const context: AgentContext = {
      facts: this.#facts,
      client,
      clock: pace,
      random: random.fork(`agent-${this.#generation++}`),
      memory: this.memory,
      record,
      watchLag,
      startLag,
      onBug,
    };
    return protocol === 'multi-pool' ? new MultiPoolAgent(context) : new CrdAgent(context);
  }
}
