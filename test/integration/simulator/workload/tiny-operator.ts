// A minimal operator and cloud in one that keeps the contracts of agents of both protocols: it
// gives each node a buffer of free addresses on one interface and releases what is not used. It is here to prove the
// agents, not to perform well: it polls everything and has no limits.
import { type Clock, sleep } from '../../../../src/runtime/clock.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textMapAt,
  textsAt,
} from '../../../../src/simulator/workload/json.ts';
import type { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';

const period = 5_000;
const buffer = 8;
const releaseDelay = 180_000;
/** The agents' refresh and debounce, in ms: until then an agent may use a CIDR that it does not name. */
const strikeDelay = 75_000;
const nodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** What one node has in the cloud, and since when parts of it are in excess. */
interface NodeState {
  readonly uid: string;
  readonly prefix: string;
  next: number;
  /** Attached in the cloud. */
  readonly attached: Set<string>;
  /** Attached, but no longer published. */
  readonly struck: Map<string, number>;
  /** CIDRs that an agent of the multi-pool protocol does not name. */
  readonly superfluousSince: Map<string, number>;
  /** Since when the node of a CRD agent has an excess. */
  excessSince: number | undefined;
}

export interface TinyOperatorOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  /** Addresses that pods of the node use, as the test knows them. */
  readonly inUse: (nodeName: string) => ReadonlySet<string>;
}

export class TinyOperator {
  /** Addresses that were unassigned while pods used them: must stay empty. */
  readonly taken: string[] = [];
  released = 0;
  readonly #options: TinyOperatorOptions;
  readonly #nodes = new Map<string, NodeState>();
  #prefixes = 0;

  constructor(options: TinyOperatorOptions) {
    this.#options = options;
  }

  /** Runs until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    while (!signal.aborted) {
      const answer = await client.get(nodesPath, signal);
      if (answer.kind === 'ok') {
        for (const node of listAt(answer.object, 'items').filter(isObject)) await this.#tend(node, signal);
      }
      await sleep(clock, period, signal).catch(() => undefined);
    }
  }

  async #tend(node: JsonObject, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(node);
    const demand = demandOf(node);
    for (let free = state.attached.size - demand.used; free < buffer; free++) {
      state.attached.add(`${state.prefix}.${Math.floor(state.next / 250)}.${1 + (state.next % 250)}`);
      state.next++;
    }
    const excess = state.attached.size - demand.used - buffer;
    const writer = new GuardedWriter(node, this.#options.client, signal);
    if (demand.isMultiPool) await this.#shrinkMultiPool(node, state, writer);
    else await this.#shrinkCrd(node, state, excess, writer);
    await publish(writer, state);
  }

  /** CIDRs that the agent does not name are removed after a while, and unassigned after another. */
  async #shrinkMultiPool(node: JsonObject, state: NodeState, writer: GuardedWriter): Promise<void> {
    const now = this.#options.clock.monotonic();
    const [entry] = listAt(node, 'spec', 'ipam', 'pools', 'allocated').filter(isObject);
    if (entry === undefined) return;
    const named = new Set(textsAt(entry, 'cidrs').map((cidr) => cidr.replace('/32', '')));
    for (const address of state.attached) {
      if (named.has(address)) {
        state.superfluousSince.delete(address);
        state.struck.delete(address);
        continue;
      }
      const since = state.superfluousSince.get(address) ?? now;
      state.superfluousSince.set(address, since);
      if (now - since >= releaseDelay && !state.struck.has(address))
        await this.#strike(address, state, writer);
      if (now - (state.struck.get(address) ?? now) >= strikeDelay) this.#unassign(address, state, node);
    }
  }

  /** Marks one address in excess at a time, and follows the answers of the agent. */
  async #shrinkCrd(node: JsonObject, state: NodeState, excess: number, writer: GuardedWriter): Promise<void> {
    const states = textMapAt(node, 'status', 'ipam', 'release-ips');
    for (const [address, answer] of states) {
      if (answer === 'do-not-release') await writer.status({ ipam: { 'release-ips': { [address]: null } } });
      if (answer !== 'ready-for-release') continue;
      if (!(await this.#strike(address, state, writer))) return;
      this.#unassign(address, state, node);
      await writer.status({ ipam: { 'release-ips': { [address]: 'released' } } });
    }
    if (states.size === 0 && this.#isLasting(excess > 0, state)) await this.#mark(node, state, writer);
  }

  /** Whether there has been an excess for long enough. */
  #isLasting(isThere: boolean, state: NodeState): boolean {
    if (!isThere) state.excessSince = undefined;
    else state.excessSince ??= this.#options.clock.monotonic();
    return (
      state.excessSince !== undefined && this.#options.clock.monotonic() - state.excessSince >= releaseDelay
    );
  }

  async #mark(node: JsonObject, state: NodeState, writer: GuardedWriter): Promise<void> {
    const used = objectAt(node, 'status', 'ipam', 'used');
    const victim = [...state.attached].findLast((address) => used[address] === undefined);
    if (victim === undefined) return;
    await writer.status({ ipam: { 'release-ips': { [victim]: 'marked-for-release' } } });
  }

  /** Writes the pool, then the status; returns whether both succeeded. */
  async #strike(address: string, state: NodeState, writer: GuardedWriter): Promise<boolean> {
    if (!(await writer.spec({ ipam: { pool: { [address]: null } } }))) return false;
    state.struck.set(address, this.#options.clock.monotonic());
    const isDone = await writer.status({ eni: { enis: enisOf(state) } });
    if (!isDone) state.struck.delete(address);
    return isDone;
  }

  #unassign(address: string, state: NodeState, node: JsonObject): void {
    if (this.#options.inUse(textAt(node, 'metadata', 'name')).has(address)) this.taken.push(address);
    state.attached.delete(address);
    state.struck.delete(address);
    state.superfluousSince.delete(address);
    this.released++;
  }

  #stateOf(node: JsonObject): NodeState {
    const name = textAt(node, 'metadata', 'name');
    const uid = textAt(node, 'metadata', 'uid');
    const known = this.#nodes.get(name);
    if (known?.uid === uid) return known;
    const state = {
      uid,
      prefix: `10.${++this.#prefixes}`,
      next: 0,
      attached: new Set<string>(),
      struck: new Map<string, number>(),
      superfluousSince: new Map<string, number>(),
      excessSince: undefined,
    };
    this.#nodes.set(name, state);
    return state;
  }
}

/** Writes with the version of the last answer, and stops after a conflict. */
class GuardedWriter {
  #node: JsonObject;
  #isOutdated = false;
  readonly #client: KubernetesClient;
  readonly #signal: AbortSignal;

  constructor(node: JsonObject, client: KubernetesClient, signal: AbortSignal) {
    this.#node = node;
    this.#client = client;
    this.#signal = signal;
  }

  get node(): JsonObject {
    return this.#node;
  }

  spec(spec: JsonObject): Promise<boolean> {
    return this.#patch('', { spec });
  }

  status(status: JsonObject): Promise<boolean> {
    return this.#patch('/status', { status });
  }

  async #patch(suffix: string, patch: JsonObject): Promise<boolean> {
    if (this.#isOutdated) return false;
    const path = `${nodesPath}/${textAt(this.#node, 'metadata', 'name')}${suffix}`;
    const resourceVersion = textAt(this.#node, 'metadata', 'resourceVersion');
    const answer = await this.#client.mergePatch(
      path,
      { metadata: { resourceVersion }, ...patch },
      this.#signal,
    );
    if (answer.kind === 'ok') this.#node = answer.object;
    else this.#isOutdated = true;
    return answer.kind === 'ok';
  }
}

/** Writes status, then pool, if they lack anything. */
async function publish(writer: GuardedWriter, state: NodeState): Promise<void> {
  const published = [...state.attached].filter((address) => !state.struck.has(address));
  const pool = objectAt(writer.node, 'spec', 'ipam', 'pool');
  const entry = objectAt(writer.node, 'status', 'eni', 'enis', `eni-${state.prefix}`);
  if (textsAt(entry, 'addresses').join() !== published.join()) {
    if (!(await writer.status({ eni: { enis: enisOf(state) } }))) return;
  }
  const missing = published.filter((address) => pool[address] === undefined);
  if (missing.length === 0) return;
  const entries = missing.map((address): [string, Json] => [address, { resource: `eni-${state.prefix}` }]);
  await writer.spec({ ipam: { pool: Object.fromEntries(entries) } });
}

function enisOf(state: NodeState): JsonObject {
  const id = `eni-${state.prefix}`;
  return {
    [id]: {
      id,
      ip: `${state.prefix}.255.1`,
      mac: '02:00:00:00:00:01',
      subnet: { id: 'subnet-1', cidr: `${state.prefix}.0.0/16` },
      vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/8' },
      addresses: [...state.attached].filter((address) => !state.struck.has(address)),
    },
  };
}

function demandOf(node: JsonObject): { readonly isMultiPool: boolean; readonly used: number } {
  const used = Object.keys(objectAt(node, 'status', 'ipam', 'used')).length;
  const [request] = listAt(node, 'spec', 'ipam', 'pools', 'requested').filter(isObject);
  const isMultiPool = request !== undefined && used === 0;
  return {
    isMultiPool,
    used: isMultiPool ? Math.max(0, numberAt(request, 'needed', 'ipv4-addrs') - buffer) : used,
  };
}
