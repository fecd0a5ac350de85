// Follows the object that shows what this node has: its Node, or its CiliumNode, which is created if nothing else does. An
// object that is gone takes nothing away: a live node keeps what it has.
import type { Logger } from '../../observability/logger.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { nodesPath } from '../../kubernetes/node/node-blocks.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { LinkedAbort } from '../../kubernetes/transport/linked-abort.ts';
import type { ClientPorts, KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { Reflector, type ReflectorState } from '../../kubernetes/watch/reflector.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { raceAbort, untilAborted } from '../../runtime/race-abort.ts';
import type { Random } from '../../runtime/random.ts';
import { cloudOf } from '../../config/clouds/clouds.ts';
import type { AgentMode } from '../../config/options/agent-options.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';

export type EventScope = 'Node' | 'CiliumNode' | 'Pod' | 'Namespace' | 'CiliumPodIPPool';

/** Called with each change of an object, once it is taken in. */
export type EventCounter = (scope: EventScope, action: 'create' | 'update' | 'delete') => void;

export const actionOf = { added: 'create', modified: 'update', deleted: 'delete' } as const;

/** The surroundings of each part of an agent that follows objects. */
export interface Surroundings {
  readonly onEvent?: EventCounter;
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function clientPorts({ transport, clock, random, log }: Surroundings): ClientPorts {
  return {
    transport,
    clock,
    random,
    onBug: (error) => log.error('a bug: please report it', { error }),
  };
}

export interface OwnNodeOptions {
  readonly kind: 'Node' | 'CiliumNode';
  readonly name: string;
  /** The field of the object that the agent waits for. */
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
  readonly #surroundings: Surroundings;
  readonly #reflector: Reflector<JsonObject>;
  /** Why the object cannot be read. */
  #unread: string | undefined = 'no answer yet';
  /** Why it cannot be created. */
  #uncreated: string | undefined;

  constructor(options: OwnNodeOptions, surroundings: Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    const { name, kind } = options;
    this.#reflector = new Reflector(
      clientPorts(surroundings),
      { path: paths[kind], fieldSelector: `metadata.name=${name}`, transform: (raw) => raw },
      {
        onChange: ({ type, object }) => {
          if (type !== 'deleted') options.onObject(object);
          surroundings.onEvent?.(kind, actionOf[type]);
        },
        onState: (state) => this.#enter(state),
      },
    );
  }

  /** The thing that the agent waits for until it has what it needs, worded to follow "waiting for". */
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
    if (problem !== this.#unread)
      this.#surroundings.log.warn('cannot read the object of this node', { problem });
    this.#unread = problem;
  }

  async #createMissing(signal: AbortSignal): Promise<void> {
    const { newSpec } = this.#options;
    const { clock, log } = this.#surroundings;
    if (newSpec === undefined) return;
    await untilAborted(signal, async () => {
      await raceAbort(this.#reflector.synced, signal);
      while (!signal.aborted) {
        const problem = this.object === undefined ? await this.#create(newSpec, signal) : undefined;
        if (problem !== undefined && problem !== this.#uncreated)
          log.warn('cannot create the CiliumNode of this node', { problem });
        this.#uncreated = problem;
        await sleep(clock, createInterval, signal);
      }
    });
  }

  /** Returns what prevents it. */
  async #create(newSpec: (node: JsonObject) => JsonObject, signal: AbortSignal): Promise<string | undefined> {
    const { name } = this.#options;
    const { transport, log } = this.#surroundings;
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

/** The spec of a new CiliumNode: what the Node says of its instance, and the rest from a file. The Node wins. */
export function newCiliumNodeSpec(mode: AgentMode, node: JsonObject, file: JsonObject): JsonObject {
  const facts = { ipam: {}, ...instanceFacts(mode, node) };
  return applyMergePatch(file, facts) as JsonObject;
}

function instanceFacts(mode: AgentMode, node: JsonObject): JsonObject {
  const cloud = cloudOf(mode)?.newNode;
  if (cloud === undefined) return {};
  const shownId = cloud.providerId.exec(textAt(node, 'spec', 'providerID') ?? '')?.[1];
  const instanceId = cloud.ignoresCase ? shownId?.toLowerCase() : shownId;
  const { section } = cloud;
  if (section === undefined) return withTexts({ 'instance-id': instanceId });
  const facts = withTexts({
    'instance-type': textAt(node, 'metadata', 'labels', 'node.kubernetes.io/instance-type'),
    'availability-zone': textAt(node, 'metadata', 'labels', 'topology.kubernetes.io/zone'),
  });
  return { ...withTexts({ 'instance-id': instanceId }), [section]: facts };
}

function withTexts(texts: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : [])));
}
