// An agent's client for its own CiliumNode: creates or renews it at the start and writes it as a whole. It
// never accesses another node's object.
import { type Clock, sleep } from '../../runtime/clock.ts';
import { agentCloudOf } from './clouds/known-clouds.ts';
import { type JsonObject, textAt } from './json.ts';
import type { Recorder } from './journal.ts';
import type { Answer, KubernetesClient } from './kubernetes-client.ts';
import type { NodeFacts } from './node-facts.ts';
import { ciliumNodesPath, newOwnNode, renewedOwnNode } from './own-node.ts';

export interface OwnNodeClientOptions {
  readonly facts: NodeFacts;
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly record: Recorder;
}

const unreadable: Answer = {
  kind: 'refused',
  status: 0,
  reason: 'Unreadable',
  message: 'the object cannot be decoded',
};

/** Pause between attempts to announce the node, in ms. */
const announcePause = 1_000;

export class OwnNodeClient {
  readonly #options: OwnNodeClientOptions;
  readonly #path: string;

  constructor(options: OwnNodeClientOptions) {
    this.#options = options;
    this.#path = `${ciliumNodesPath}/${options.facts.name}`;
  }

  /** Creates or renews the object; retries until success, and rejects when `signal` aborts. */
  async announce(signal: AbortSignal): Promise<void> {
    for (;;) {
      const answer = await this.#announceOnce(signal);
      if (answer.kind === 'ok') return;
      await sleep(this.#options.clock, announcePause, signal);
    }
  }

  /** Writes `object` without its status, unless another write came first. */
  async replace(object: JsonObject, signal: AbortSignal): Promise<Answer> {
    return this.#recorded(this.#path, await this.#options.client.replace(this.#path, object, signal));
  }

  /** Writes the status of `object`, unless another write came first. */
  async replaceStatus(object: JsonObject, signal: AbortSignal): Promise<Answer> {
    const path = `${this.#path}/status`;
    return this.#recorded(path, await this.#options.client.replace(path, object, signal));
  }

  async #announceOnce(signal: AbortSignal): Promise<Answer> {
    const { client, facts } = this.#options;
    const node = await client.get(`/api/v1/nodes/${facts.name}`, signal);
    if (node.kind === 'refused') return this.#recorded('node', node);
    const uid = textAt(node.object, 'metadata', 'uid');

    const found = await client.get(this.#path, signal);
    if (found.kind === 'ok' && !agentCloudOf(facts).isReadable(found.object))
      return this.#recorded(this.#path, unreadable);
    if (found.kind === 'ok') return this.replace(renewedOwnNode(facts, uid, found.object), signal);
    if (found.status !== 404) return this.#recorded(this.#path, found);
    const created = await client.create(ciliumNodesPath, newOwnNode(facts, uid), signal);
    return this.#recorded(this.#path, created);
  }

  #recorded(path: string, answer: Answer): Answer {
    const { record } = this.#options;
    if (answer.kind === 'ok') record('written', path);
    else record('write-refused', path, `${answer.status} ${answer.reason}`);
    return answer;
  }
}
