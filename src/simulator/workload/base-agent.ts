// The base of agents of both protocols: announce the node, watch it, wait until they may start, restore the
// machine's endpoints, take their own addresses, then serve pods. The protocol decides how addresses are
// managed.
import { sleep } from '../../runtime/clock.ts';
import type { Agent, AgentPhase, CniAnswer } from './agent.ts';
import type { AgentContext } from './agent-context.ts';
import type { AgentCloud } from './clouds/agent-cloud.ts';
import { agentCloudOf } from './clouds/known-clouds.ts';
import type { Holding } from './holdings.ts';
import type { JsonObject } from './json.ts';
import { type AgentAddress, agentAddressesOf, type Protocol } from './node-facts.ts';
import { watchObjects } from './object-watch.ts';
import { ciliumNodesPath } from './own-node.ts';
import { OwnNodeClient } from './own-node-client.ts';
import { gatePollInterval } from './start-gate.ts';

export interface AllocatedAddress extends Holding {
  readonly address: string;
}

export type Allocation =
  | ({ readonly kind: 'allocated'; readonly ipv6?: AllocatedAddress } & AllocatedAddress)
  | { readonly kind: 'refused'; readonly reason: string };

export abstract class BaseAgent implements Agent {
  abstract readonly protocol: Protocol;
  protected readonly context: AgentContext;
  protected readonly ownNode: OwnNodeClient;
  protected readonly cloud: AgentCloud;
  /** Whether pods get an address of each family. */
  protected abstract readonly usesIpv6: boolean;
  /** Endpoints have their addresses again: from now on the agent reports addresses in use. */
  protected isRestored = false;
  #phase: AgentPhase = 'new';
  #life: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  readonly #stopping = new AbortController();

  constructor(context: AgentContext) {
    this.context = context;
    this.ownNode = new OwnNodeClient(context);
    this.cloud = agentCloudOf(context.facts);
  }

  /** The own CiliumNode as the watch shows it; undefined after its deletion. */
  protected abstract observe(node: JsonObject | undefined): void;
  /** Whether the start gate is open. */
  protected abstract isReady(): boolean;
  protected abstract allocate(owner: string): Allocation;
  /** Assigns this exact address to `owner` again, as before a restart. */
  protected abstract reallocate(address: string, owner: string): Allocation;
  /** Whether the agent itself reported that it does not hold this address, so its loss is no fault of others. */
  protected abstract wasGivenUp(address: string): boolean;
  protected abstract free(address: string): void;
  /** All endpoints are restored. */
  protected abstract onRestored(): void;
  /** Runs beside the watch until `signal` aborts. */
  protected abstract background(signal: AbortSignal): Promise<void>;
  /** Stops all writes; resolves once they have ended. */
  protected abstract halt(): Promise<void>;
  abstract missingAddresses(): ReadonlyMap<string, string>;

  get nodeName(): string {
    return this.context.facts.name;
  }

  get phase(): AgentPhase {
    return this.#phase;
  }

  get violations(): Agent['violations'] {
    return this.context.memory.violations.entries;
  }

  addressesInUse(): ReadonlyMap<string, string> {
    return this.context.memory.endpoints;
  }

  start(): void {
    if (this.#phase !== 'new') throw new Error(`the agent of ${this.nodeName} was started before`);
    this.#phase = 'starting';
    this.context.record('agent-started', this.protocol);
    this.#life = this.#live(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    if (this.#phase === 'stopped') return;
    this.#phase = 'stopped';
    this.context.record('agent-stopped', this.protocol);
    this.#stopping.abort(new Error(`the agent of ${this.nodeName} stops`));
    await Promise.all([this.halt(), this.#life]);
  }

  add(owner: string): CniAnswer {
    return this.#phase === 'serving' ? this.#give(owner) : { kind: 'unavailable' };
  }

  remove(owner: string): void {
    for (const address of this.context.memory.unbind(owner)) {
      this.context.record('address-given-back', address, owner);
      if (this.isRestored && this.#phase !== 'stopped') this.free(address);
    }
  }

  /** Makes an agent that waits at the gate check again now. */
  protected knock(): void {
    this.#wake();
  }

  async #live(signal: AbortSignal): Promise<void> {
    try {
      await this.ownNode.announce(signal);
      const { clock, random, startLag } = this.context;
      if (startLag > 0) await sleep(clock, random.fork('start').next() * startLag, signal);
      await Promise.all([this.#watch(signal), this.#serve(signal), this.background(signal)]);
    } catch (error) {
      if (!signal.aborted) this.context.onBug(error);
      this.#stopping.abort(error);
    }
  }

  #watch(signal: AbortSignal): Promise<never> {
    const { facts, client, clock, random, watchLag, record } = this.context;
    return watchObjects(
      {
        client,
        path: ciliumNodesPath,
        fieldSelector: `metadata.name=${facts.name}`,
        clock,
        random: random.fork('watch'),
        lag: watchLag,
      },
      {
        onList: (objects) => this.#decode(objects[0]),
        onChange: (object) => this.#decode(object),
        onDelete: () => this.observe(undefined),
        onTrouble: (reason) => record('watch-broken', ciliumNodesPath, reason),
      },
      signal,
    );
  }

  /** An object that it cannot decode leaves the agent with the last one that it could. */
  #decode(node: JsonObject | undefined): void {
    if (node === undefined || this.cloud.isReadable(node)) {
      this.observe(node);
      return;
    }
    const { memory, record } = this.context;
    record('node-unreadable', ciliumNodesPath);
    memory.violations.add({ pod: '', address: '', interfaceId: '', what: 'unreadable-status' });
  }

  async #serve(signal: AbortSignal): Promise<void> {
    while (!this.isReady()) await this.#knockOr(gatePollInterval, signal);
    signal.throwIfAborted();
    this.#restore();
    for (const name of agentAddressesOf(this.context.facts)) await this.#takeForItself(name, signal);
    signal.throwIfAborted();
    this.#phase = 'serving';
    this.context.record('agent-serving', this.protocol);
  }

  #knockOr(ms: number, signal: AbortSignal): Promise<void> {
    const knocked = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return Promise.race([sleep(this.context.clock, ms, signal), knocked]);
  }

  #restore(): void {
    const { memory } = this.context;
    if (!this.usesIpv6) memory.forgetIpv6();
    for (const endpoints of [memory.endpoints, memory.ipv6Endpoints]) {
      for (const [address, owner] of endpoints)
        if (this.reallocate(address, owner).kind === 'refused') this.#forget(address, owner);
    }
    this.isRestored = true;
    this.onRestored();
  }

  /** Deletes an endpoint that cannot be restored: its pod has lost the address. */
  #forget(address: string, owner: string): void {
    const { memory, record } = this.context;
    for (const other of memory.unbind(owner)) this.free(other);
    record('address-missing', address, owner);
    if (this.wasGivenUp(address)) return;
    memory.violations.add({ pod: owner, address, interfaceId: '', what: 'lost-across-restart' });
  }

  async #takeForItself(name: AgentAddress, signal: AbortSignal): Promise<void> {
    while (this.#give(name).kind !== 'allocated') await sleep(this.context.clock, gatePollInterval, signal);
  }

  #give(owner: string): CniAnswer {
    const { memory, record } = this.context;
    const held = memory.addressOf(owner);
    if (held !== undefined) return allocated(held, memory.ipv6AddressOf(owner));

    const answer = this.allocate(owner);
    if (answer.kind === 'refused') {
      record('address-refused', owner, answer.reason);
      return answer;
    }
    memory.bind(answer.address, owner, answer.interfaceId);
    record('address-taken', answer.address, owner);
    if (answer.ipv6 !== undefined) {
      memory.bind(answer.ipv6.address, owner, answer.ipv6.interfaceId);
      record('address-taken', answer.ipv6.address, owner);
    }
    return allocated(answer.address, answer.ipv6?.address);
  }
}

function allocated(address: string, ipv6: string | undefined): CniAnswer {
  return { kind: 'allocated', address, ...(ipv6 !== undefined && { ipv6 }) };
}
