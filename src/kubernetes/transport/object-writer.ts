// Writes objects of one kind with patches that hold only what changed, and reads them before the next write. Returns the outcome
// as a value; the caller decides what follows.
import { type ApiRefusal, ask } from './api-reply.ts';
import type { Json, JsonObject } from '../../runtime/json.ts';
import type { KubernetesTransport } from './transport.ts';
import {
  notLeading,
  type ReadOutcome,
  type WriteFailure,
  writeFailure,
  type WriteOutcome,
  type WriteTarget,
} from './write-outcome.ts';

export interface WrittenKind {
  /** The path of the collection. */
  readonly path: string;
  /** The resource as a role names it, and its group, worded to follow that. */
  readonly resource: readonly [name: string, ofGroup: string];
  /** Fields that the API server names, too, if an object is in another state. */
  readonly lateFields?: readonly string[];
}

export interface ObjectWrite {
  readonly method: 'PATCH' | 'DELETE';
  /** The type of the body, without `application/`. */
  readonly type: 'merge-patch+json' | 'json-patch+json' | 'strategic-merge-patch+json' | 'json';
  readonly body: Json;
  readonly subresource?: 'status';
}

export abstract class ObjectWriter {
  protected readonly transport: KubernetesTransport;
  readonly #kind: WrittenKind;
  readonly #mayWrite: () => boolean;
  readonly #timeoutMs: number | undefined;

  /** `mayWrite`: whether a write may start at this instant. `timeoutMs`: time limit of a write. */
  constructor(
    transport: KubernetesTransport,
    kind: WrittenKind,
    mayWrite: () => boolean,
    timeoutMs: number | undefined,
  ) {
    this.transport = transport;
    this.#kind = kind;
    this.#mayWrite = mayWrite;
    this.#timeoutMs = timeoutMs;
  }

  /** Sets annotations. Rejects only with the signal's reason. */
  annotate(
    target: WriteTarget,
    annotations: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.merge(target, { metadata: { annotations } }, signal);
  }

  /** Reads the live object, not the watched copy. Rejects only with the signal's reason. */
  async get(name: string, signal: AbortSignal): Promise<ReadOutcome> {
    const reply = await ask(this.transport, { method: 'GET', path: this.#pathOf(name) }, signal);
    return reply.kind === 'ok' ? { kind: 'found', raw: reply.object } : this.#failure(reply, 'get', '');
  }

  /** Patches a part of the object, in just this state. */
  protected merge(
    { name, uid, resourceVersion }: WriteTarget,
    { metadata, ...part }: JsonObject & { readonly metadata?: JsonObject },
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const body = { metadata: { ...metadata, uid, resourceVersion }, ...part };
    const subresource = 'status' in part ? { subresource: 'status' as const } : {};
    return this.write(name, { method: 'PATCH', type: 'merge-patch+json', body, ...subresource }, signal);
  }

  protected async write(
    name: string,
    { method, type, body, subresource }: ObjectWrite,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    if (!this.#mayWrite()) return notLeading;
    const under = subresource === undefined ? '' : `/${subresource}`;
    const request = {
      method,
      path: `${this.#pathOf(name)}${under}`,
      contentType: `application/${type}`,
      body: JSON.stringify(body),
      ...(this.#timeoutMs !== undefined && { timeoutMs: this.#timeoutMs }),
    };
    const reply = await ask(this.transport, request, signal);
    if (reply.kind === 'ok') return { kind: 'written', raw: reply.object };
    return this.#failure(reply, method.toLowerCase(), under);
  }

  #pathOf(name: string): string {
    return `${this.#kind.path}/${encodeURIComponent(name)}`;
  }

  #failure(refusal: ApiRefusal, verb: string, under: string): WriteFailure {
    const { resource, lateFields = [] } = this.#kind;
    return writeFailure(refusal, `${verb} ${resource.join(under)}`, lateFields);
  }
}
