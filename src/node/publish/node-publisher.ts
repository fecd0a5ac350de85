// Writes one CiliumNode until it holds the desired content. Each write is one difference, computed from the
// newest known state, so a conflict costs a read and never a wrong write.
import { Backoff, type BackoffDeps, waitBeforeRetry } from '../../runtime/backoff.ts';
import type { Requeue } from '../../runtime/requeue.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { isEqual } from '../../kubernetes/transport/merge-patch.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import type { ReadOutcome, WriteFailure, WriteOutcome } from '../../kubernetes/transport/write-outcome.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { Caller, Priority } from '../../providers/contract/priority.ts';
import type { PermittedNode } from '../../providers/gate/mutation-permission.ts';
import { type Desired, missingWrites, nextWrite, type Write } from './next-write.ts';
import { type AgentActivity, waitBefore } from './write-moment.ts';

export interface PublishedObject extends AgentActivity, Caller, PermittedNode {
  /** The newest known state of the object. */
  readonly node: CiliumNode;
  readonly pendingPods: number;
  /** When the publisher last wrote it, may have written it, or started to, in monotonic ms; -Infinity if never. */
  writtenAt: number;
  /** The last write whose effect is not known. */
  openWrite: OpenWrite | undefined;
  readonly implementation: { readonly traits: Pick<CloudTraits, 'poolRequests'> };
  tell(event: WriteEvent): void;
}

/** It may take effect until then, as long as the object has this version. In monotonic ms; Infinity until it is answered. */
export interface OpenWrite {
  readonly version: string;
  readonly until: number;
}

export interface WriterOfNode {
  readonly own: Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;
  /** The known objects. `observe` applies a newer state. */
  readonly known: { observe(raw: JsonObject): void };
}

export interface WriteEvent {
  readonly kind: 'write';
  readonly part: Write['part'];
  readonly outcome: WriteOutcome['kind'] | 'unfinished';
}

/** `trouble`: a failure that needs action, once per text. */
export type PublishResult = { readonly trouble?: string } & (
  | { readonly kind: 'goesOn' }
  /** The object holds all desired content, as far as known. */
  | { readonly kind: 'published' }
  /** The next write waits for one of the agent. */
  | { readonly kind: 'deferred'; readonly write: Write; readonly requeueAfter: number }
  /** Publishing waits for the given time, or else until something happens. */
  | ({ readonly kind: 'paused' } & Requeue)
  /** Publishing is not permitted. */
  | { readonly kind: 'held'; readonly writes: readonly Write[] }
);

interface Run {
  readonly writes: number;
  /** The last write that succeeded. */
  readonly last?: Write;
  /** The last write that was refused, and for how long it is not repeated, in ms. */
  readonly refused?: { readonly write: Write; readonly requeueAfter: number };
}

/** Upper bound on the writes of one run; more than a run can need. */
const maxWrites = 20;
const noWrites: Run = { writes: 0 };
const backoffPolicy = { base: 1000, cap: 30_000 };
/** How long after it was given up a write may still take effect, in ms: the API server works on none for longer. */
const lateFor = 60_000;
/** Pause after a refusal that only a user or administrator can fix, in ms. */
const refusedFor = 30_000;

export class NodePublisher implements Caller {
  readonly #object: PublishedObject;
  readonly #runtime: Required<BackoffDeps>;
  readonly #writer: WriterOfNode;
  readonly #backoff: Backoff;
  #trouble: string | undefined;
  #isStuck = false;
  #run: Run = noWrites;
  #isBehind = false;

  constructor(object: PublishedObject, runtime: Required<BackoffDeps>, writer: WriterOfNode) {
    this.#object = object;
    this.#runtime = runtime;
    this.#writer = writer;
    this.#backoff = new Backoff(backoffPolicy, runtime);
  }

  /** Pods wait for assigned addresses until they are published. */
  get priority(): Priority {
    return this.#object.pendingPods > 0 ? 'critical' : this.#object.priority;
  }

  /** The refusal of the API server to accept a write, while that write is still missing. */
  get refusal(): string | undefined {
    return this.#trouble;
  }

  /** Whether a missing write was attempted and failed. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /**
   * Whether the API server gave no usable answer to the last write, or to the read after a conflict. Also while it owes
   * one: what is to leave may stay until the time-out and longer.
   */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** How long that write waits for one of the agent, in ms. */
  waitBefore(write: Write): number {
    const object = this.#object;
    if (!object.implementation.traits.poolRequests) return 0;
    return waitBefore(write, object.node, object, this.#runtime.clock.monotonic());
  }

  /** Begins a run: what the last one met says nothing about this one. */
  beginRun(): void {
    this.#run = noWrites;
  }

  /** Writes the first difference. Call it again, with what is desired by then, while the result is `goesOn`. */
  async step(desired: Desired | undefined, signal: AbortSignal): Promise<PublishResult> {
    if (desired === undefined) return { kind: 'paused' };
    const write = nextWrite(this.#object.node, desired);
    if (write === undefined) {
      this.settle();
      return { kind: 'published' };
    }
    if (this.#object.refusal('publish') !== undefined)
      return { kind: 'held', writes: missingWrites(this.#object.node, desired) };
    const requeueAfter = this.waitBefore(write);
    if (requeueAfter > 0) return { kind: 'deferred', write, requeueAfter };
    return this.#repeated(write) ?? this.#tryWrite(write, signal);
  }

  /** The object holds all desired content. */
  settle(): void {
    this.#backoff.forget();
    this.#trouble = undefined;
    this.#isBehind = false;
  }

  /** A write that had no effect in this run is not repeated in it. */
  #repeated(write: Write): PublishResult | undefined {
    const { last, refused, writes } = this.#run;
    if (isSame(write, refused?.write)) return { kind: 'paused', requeueAfter: refused?.requeueAfter };
    if (isSame(write, last)) {
      const problem = 'the API server accepts the write and does not keep what it holds';
      return { kind: 'paused', requeueAfter: refusedFor, ...this.#refused(unwritten(write, problem)) };
    }
    if (writes < maxWrites) return undefined;
    this.#object.tell({ kind: 'write', part: 'spec', outcome: 'unfinished' });
    return { kind: 'paused', requeueAfter: this.#backoff.fail() };
  }

  async #tryWrite(write: Write, signal: AbortSignal): Promise<PublishResult> {
    const result = await this.#write(this.#object.node, write, signal);
    this.#run = { ...this.#run, writes: this.#run.writes + 1 };
    if (typeof result === 'object') return this.#failed(write, result);
    if (result === 'written') this.#run = { ...this.#run, last: write };
    return { kind: 'goesOn' };
  }

  /** If the object is not the expected one, reads it again. */
  async #write(
    node: CiliumNode,
    { part, patch }: Write,
    signal: AbortSignal,
  ): Promise<'written' | 'reread' | WriteFailure> {
    const { own: writer, known } = this.#writer;
    const { clock } = this.#runtime;
    const object = this.#object;
    const { writtenAt: writtenBefore, openWrite: openBefore } = object;
    object.writtenAt = clock.monotonic();
    this.#isStuck = true;
    const version = node.resourceVersion;
    object.openWrite = { version, until: Infinity };
    const outcome = await (part === 'spec'
      ? writer.patchSpec(node, patch, signal)
      : writer.patchStatus(node, patch, signal));
    const isLost = outcome.kind === 'unavailable';
    object.openWrite = openAfter(outcome, node, openBefore, clock.monotonic() + lateFor);
    object.tell({ kind: 'write', part, outcome: outcome.kind });
    this.#isStuck = outcome.kind === 'unavailable' || outcome.kind === 'conflict';
    const mayBeWritten = isLost || isNewer(outcome, node);
    object.writtenAt = mayBeWritten ? clock.monotonic() : writtenBefore;
    if (outcome.kind === 'written') {
      known.observe(outcome.raw);
      return 'written';
    }
    if (outcome.kind !== 'conflict') return outcome;
    const live: ReadOutcome = await writer.get(node.name, signal);
    this.#isStuck = live.kind === 'unavailable';
    if (live.kind !== 'found') return live;
    known.observe(live.raw);
    return 'reread';
  }

  #failed(write: Write, failure: WriteFailure): PublishResult {
    this.#isBehind = failure.kind !== 'conflict';
    switch (failure.kind) {
      case 'gone':
        // The object may still exist: the API server may have lost only its CRD for a moment.
        return { kind: 'paused', requeueAfter: refusedFor };
      case 'denied':
      case 'invalid': {
        const { kind, message } = failure;
        this.#run = { ...this.#run, refused: { write, requeueAfter: refusedFor } };
        // A different write, which was not refused, may be missing by now.
        return { kind: 'goesOn', ...this.#refused(kind === 'denied' ? message : unwritten(write, message)) };
      }
      case 'unavailable':
        return {
          kind: 'paused',
          requeueAfter: waitBeforeRetry(this.#backoff.fail(), failure.retryAfterMs, this.#runtime.random),
        };
      case 'conflict':
        return { kind: 'paused', requeueAfter: this.#backoff.fail() };
    }
  }

  #refused(text: string): Pick<PublishResult, 'trouble'> {
    const isNews = this.#trouble !== text;
    this.#isBehind = true;
    this.#trouble = text;
    return isNews ? { trouble: text } : {};
  }
}

function unwritten({ part }: Write, problem: string): string {
  return `cannot write the ${part} of the CiliumNode: ${problem}`;
}

/** A refused write leaves the version as it is, and so what an earlier one, which was lost, may still do. */
function openAfter(
  outcome: WriteOutcome,
  node: CiliumNode,
  before: OpenWrite | undefined,
  until: number,
): OpenWrite | undefined {
  const { resourceVersion: version } = node;
  if (outcome.kind === 'unavailable') return { version, until };
  if (outcome.kind === 'conflict' || isNewer(outcome, node)) return undefined;
  return before?.version === version ? before : undefined;
}

/** A write that changes nothing also succeeds. */
function isNewer(outcome: WriteOutcome, { resourceVersion }: CiliumNode): boolean {
  return outcome.kind === 'written' && textAt(outcome.raw, 'metadata', 'resourceVersion') !== resourceVersion;
}

function isSame(write: Write, previous: Write | undefined): boolean {
  return write.part === previous?.part && isEqual(write.patch, previous.patch);
}
