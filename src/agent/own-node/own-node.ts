// Follows the object that shows what this node has: its Node, or its CiliumNode, which is created if nothing else does. An
// object that is gone takes nothing away: a live node keeps what it has.
import type { Logger } from '../../observability/logger.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import { LinkedAbort } from '../../kubernetes/transport/linked-abort.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { Reflector, type ReflectorState } from '../../kubernetes/watch/reflector.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import type { Random } from '../../runtime/random.ts';

/** What each part of an agent needs to follow objects. */
export interface Surroundings {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface OwnNodeOptions extends Surroundings {
  readonly kind: 'Node' | 'CiliumNode';
  readonly name: string;
  /** What of it the agent waits for. */
  readonly field: string;
  /** The spec of a CiliumNode that is absent, of its Node; undefined: nothing is created. */
  readonly newSpec: ((node: JsonObject) => JsonObject) | undefined;
  /** Called with the object at each change. */
  readonly onObject: (raw: JsonObject) => void;
}

const paths = { Node: nodesPath, CiliumNode: ciliumNodesPath } as const;

/** Between two tries to create the object, in ms. */
const createInterval = 5000;

export class OwnNode {
  readonly #options: OwnNodeOptions;
  readonly #reflector: Reflector<JsonObject>;
  /** Why the object cannot be read. */
  #unread: string | undefined = 'no answer yet';
  /** Why it cannot be created. */
  #uncreated: string | undefined;

  constructor(options: OwnNodeOptions) {
    this.#options = options;
    const { transport, clock, random, name, log, kind } = options;
    this.#reflector = new Reflector({
      transport,
      clock,
      random,
      path: paths[kind],
      fieldSelector: `metadata.name=${name}`,
      transform: (raw) => raw,
      onChange: ({ type, object }) => {
        if (type !== 'deleted') options.onObject(object);
      },
      onState: (state) => this.#enter(state),
      onBug: (error) => log.error('a bug: please report it', { error }),
    });
  }

  /** What the agent waits for until it has what it needs, worded to follow "waiting for". */
  get missing(): string {
    const { kind, name, field } = this.#options;
    const what = `${field} of the ${kind} ${name}`;
    const problem = this.#unread ?? this.#uncreated;
    return problem === undefined ? what : `${what}: ${problem}`;
  }

  /** The object as last seen; undefined if there is none. */
  get object(): JsonObject | undefined {
    return this.#reflector.objects.get(this.#options.name);
  }

  /** Resolves once the object, or its absence, is known. */
  get synced(): Promise<void> {
    return this.#reflector.synced;
  }

  /** Takes in the answer to one of our writes. */
  observe(raw: JsonObject): void {
    this.#reflector.observe(raw);
  }

  /** Runs until `signal` aborts. Rejects with a bug, after everything has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const own = new LinkedAbort(signal);
    const following = this.#reflector.run(own.signal);
    try {
      await this.#createMissing(own.signal);
    } catch (error) {
      own.abort();
      throw error;
    } finally {
      await following;
      own.release();
    }
  }

  #enter(state: ReflectorState): void {
    if (state.kind === 'watching') this.#unread = undefined;
    if (state.kind !== 'backing-off' && state.kind !== 'denied') return;
    const { problem } = state;
    if (problem !== this.#unread) this.#options.log.warn('cannot read the object of this node', { problem });
    this.#unread = problem;
  }

  async #createMissing(signal: AbortSignal): Promise<void> {
    const { newSpec, clock, log } = this.#options;
    if (newSpec === undefined) return;
    try {
      await raceAbort(this.#reflector.synced, signal);
      while (!signal.aborted) {
        const problem = this.object === undefined ? await this.#create(newSpec, signal) : undefined;
        if (problem !== undefined && problem !== this.#uncreated)
          log.warn('cannot create the CiliumNode of this node', { problem });
        this.#uncreated = problem;
        await sleep(clock, createInterval, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Returns what prevents it. */
  async #create(newSpec: (node: JsonObject) => JsonObject, signal: AbortSignal): Promise<string | undefined> {
    const { transport, name, log } = this.#options;
    const node = await ask(transport, { method: 'GET', path: `${nodesPath}/${name}` }, signal);
    if (node.kind !== 'ok') return `the Node ${name} cannot be read: ${node.message}`;
    const uid = textAt(node.object, 'metadata', 'uid') ?? '';
    const object = {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: newSpec(node.object),
    };
    const request = {
      method: 'POST',
      path: ciliumNodesPath,
      contentType: 'application/json',
      body: JSON.stringify(object),
    } as const;
    const reply = await ask(transport, request, signal);
    if (reply.kind === 'ok') log.info('created the CiliumNode of this node', { name });
    return reply.kind === 'ok' || reply.kind === 'conflict' ? undefined : reply.message;
  }
}
