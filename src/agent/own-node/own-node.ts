// Follows the object that shows the blocks of this node: its Node, or its CiliumNode, which is created if nothing else does.
// A live node's blocks do not change: an object that is gone, or shows none, takes nothing away.
import type { Logger } from '../../observability/logger.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { readCiliumNodeBlocks } from '../../kubernetes/cilium-node/cilium-node-blocks.ts';
import { nodesPath, readNodeBlocks } from '../../kubernetes/node/node-blocks.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { LinkedAbort } from '../../kubernetes/transport/linked-abort.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { Reflector, type ReflectorState } from '../../kubernetes/watch/reflector.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import type { Random } from '../../runtime/random.ts';

/** What shows the blocks: the Node, or the CiliumNode. */
export type BlockSource = 'kubernetes' | 'cluster-pool';

export interface OwnNodeOptions {
  readonly source: BlockSource;
  readonly name: string;
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Creates an absent CiliumNode. */
  readonly createsObject: boolean;
  /** Called with what the object shows, at each change. */
  readonly onBlocks: (shown: readonly string[]) => void;
}

const sources = {
  kubernetes: { path: nodesPath, kind: 'Node', field: 'spec.podCIDRs', read: readNodeBlocks },
  'cluster-pool': {
    path: ciliumNodesPath,
    kind: 'CiliumNode',
    field: 'spec.ipam.podCIDRs',
    read: readCiliumNodeBlocks,
  },
} as const;

/** Between two tries to create the object, in ms. */
const createInterval = 5000;

export class OwnNode {
  readonly #options: OwnNodeOptions;
  readonly #reflector: Reflector<readonly string[]>;
  /** Why the object cannot be read. */
  #unread: string | undefined = 'no answer yet';
  /** Why it cannot be created. */
  #uncreated: string | undefined;

  constructor(options: OwnNodeOptions) {
    this.#options = options;
    const { transport, clock, random, name, log } = options;
    const { path, read } = sources[options.source];
    this.#reflector = new Reflector({
      transport,
      clock,
      random,
      path,
      fieldSelector: `metadata.name=${name}`,
      transform: (raw) => read(raw).podCidrs,
      onChange: ({ type, object }) => {
        if (type !== 'deleted') options.onBlocks(object);
      },
      onState: (state) => this.#enter(state),
      onBug: (error) => log.error('a bug: please report it', { error }),
    });
  }

  /** What the agent waits for until it has its blocks, worded to follow "waiting for". */
  get missing(): string {
    const { source, name } = this.#options;
    const { kind, field } = sources[source];
    const what = `${field} of the ${kind} ${name}`;
    const problem = this.#unread ?? this.#uncreated;
    return problem === undefined ? what : `${what}: ${problem}`;
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
    const { source, createsObject, clock, log } = this.#options;
    if (source !== 'cluster-pool' || !createsObject) return;
    try {
      await raceAbort(this.#reflector.synced, signal);
      while (!signal.aborted && this.#reflector.objects.size === 0) {
        const problem = await this.#create(signal);
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
  async #create(signal: AbortSignal): Promise<string | undefined> {
    const { transport, name, log } = this.#options;
    const node = await ask(transport, { method: 'GET', path: `${nodesPath}/${name}` }, signal);
    if (node.kind !== 'ok') return `the Node ${name} cannot be read: ${node.message}`;
    const { uid } = readNodeBlocks(node.object);
    const object = {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: { ipam: {} },
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
