// Writes to the CiliumNode of this node: what differs from what it shows, as merge patches bound to the state that they were
// computed from. At once while a pod waits, but at most one a second; else at most one in the update interval.
import { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { isObject, type Json, type JsonObject, textAt } from '../../kubernetes/transport/json.ts';
import { mergePatch } from '../../kubernetes/transport/merge-patch.ts';
import type { WriteOutcome, WriteTarget } from '../../kubernetes/transport/write-outcome.ts';
import type { Logger } from '../../observability/logger.ts';
import { Trigger } from '../../runtime/trigger.ts';
import type { OwnNode, Surroundings } from './own-node.ts';

/** Patches of both parts; undefined where nothing differs. */
export interface NodePatches {
  readonly spec?: JsonObject | undefined;
  readonly status?: JsonObject | undefined;
}

export interface NodeWritesOptions {
  readonly ownNode: OwnNode;
  /** In ms. */
  readonly interval: number;
  readonly isPressing: () => boolean;
  /** The patches of this node; none as long as it does not know what is held. */
  readonly patches: (raw: JsonObject) => NodePatches;
  /** Called before a spec is written that was computed from `raw`; returns what prevents it. */
  readonly beforeSpec?: (raw: JsonObject) => string | undefined;
}

/** Between two writes while a pod waits, in ms. */
const pressingInterval = 1000;

export class NodeWrites {
  readonly #options: NodeWritesOptions;
  readonly #log: Logger;
  readonly #writer: CiliumNodeWriter;
  readonly #trigger: Trigger;
  #problem: string | undefined;

  constructor(options: NodeWritesOptions, { transport, clock, log }: Surroundings) {
    this.#options = options;
    this.#log = log;
    const { interval, isPressing } = options;
    this.#writer = new CiliumNodeWriter(transport);
    this.#trigger = new Trigger({
      clock,
      minInterval: interval,
      pressingInterval: Math.min(pressingInterval, interval),
      isPressing,
      run: (signal) => this.#write(signal),
      onBug: (error) => log.error('a bug: please report it', { error }),
    });
  }

  /** Writes what differs, in its time. */
  update(): void {
    const { spec, status } = this.#due() ?? {};
    if (spec !== undefined || status !== undefined) this.#trigger.fire();
  }

  stop(): Promise<void> {
    return this.#trigger.stop();
  }

  #due(): (NodePatches & { readonly target: WriteTarget }) | undefined {
    const raw = this.#options.ownNode.object;
    if (raw === undefined) return undefined;
    const at = (name: string): string => textAt(raw, 'metadata', name) ?? '';
    const target = { name: at('name'), uid: at('uid'), resourceVersion: at('resourceVersion') };
    return { ...this.#options.patches(raw), target };
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { spec, target } = this.#due() ?? {};
    if (target !== undefined && spec !== undefined) {
      const prevents = this.#prepare();
      const outcome =
        prevents === undefined
          ? await this.#writer.patchSpec(target, spec, signal)
          : ({ kind: 'unavailable', message: prevents } as const);
      if (!this.#take(outcome)) return;
    }
    // The answer is the base of what follows.
    const next = this.#due();
    if (next?.status !== undefined)
      this.#take(await this.#writer.patchStatus(next.target, next.status, signal));
  }

  #prepare(): string | undefined {
    const { ownNode, beforeSpec } = this.#options;
    return ownNode.object === undefined ? undefined : beforeSpec?.(ownNode.object);
  }

  /** Returns whether it is written. After anything else, it is tried again. */
  #take(outcome: WriteOutcome): boolean {
    const { ownNode } = this.#options;
    if (outcome.kind === 'written') {
      this.#problem = undefined;
      ownNode.observe(outcome.raw);
      return true;
    }
    const problem = outcome.kind === 'gone' ? 'the CiliumNode is gone' : outcome.message;
    if (problem !== this.#problem && outcome.kind !== 'conflict')
      this.#log.warn('cannot write the CiliumNode of this node', { problem });
    this.#problem = problem;
    this.#trigger.fire();
    return false;
  }
}

/** The patch from what a map shows to what it is to hold; nothing equals empty. */
export function mapPatch(shown: Json | undefined, wanted: JsonObject): JsonObject | undefined {
  const patch = mergePatch(isObject(shown) ? shown : {}, wanted);
  return isObject(patch) ? patch : undefined;
}
