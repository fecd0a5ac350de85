// The part of a source that follows the CiliumNode of this node and writes to it: what differs from what it shows, as merge
// patches bound to the state that they were computed from. At once while a pod waits, but at most one a second; else at most
// one in the update interval.
import { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { readIdentity } from '../../kubernetes/object-identity.ts';
import { isObject, type Json, type JsonObject } from '../../runtime/json.ts';
import { mergePatch } from '../../kubernetes/transport/merge-patch.ts';
import type { WriteOutcome, WriteTarget } from '../../kubernetes/transport/write-outcome.ts';
import { Trigger } from '../../runtime/trigger.ts';
import type { Ipam, IpamEvent } from '../ipam/ipam.ts';
import type { PoolDemand } from '../ipam/pool-demand.ts';
import type { AddressSource } from './address-source.ts';
import { OwnNode, type OwnNodeOptions, type Surroundings } from './own-node.ts';

/** Patches of both parts; undefined where nothing differs. */
export interface NodePatches {
  readonly spec?: JsonObject | undefined;
  readonly status?: JsonObject | undefined;
}

export interface WritingSourceOptions extends Pick<OwnNodeOptions, 'name' | 'newSpec'> {
  readonly surroundings: Surroundings;
  readonly ipam: Ipam;
  /** Between two writes, in ms. */
  readonly updateRate: number;
  readonly demand: PoolDemand;
}

/** Between two writes while a pod waits, in ms. */
const pressingInterval = 1000;

export abstract class WritingSource implements AddressSource {
  protected readonly options: WritingSourceOptions;
  protected readonly ownNode: OwnNode;
  readonly #writer: CiliumNodeWriter;
  readonly #trigger: Trigger;
  #problem: string | undefined;

  /** `field`: of the CiliumNode, that the agent waits for. */
  constructor(options: WritingSourceOptions, field: string) {
    this.options = options;
    const { surroundings, name, newSpec, updateRate, demand } = options;
    const { transport, clock, log } = surroundings;
    this.ownNode = new OwnNode(
      { kind: 'CiliumNode', name, newSpec, field, onObject: (raw) => this.take(raw) },
      surroundings,
    );
    this.#writer = new CiliumNodeWriter(transport);
    this.#trigger = new Trigger({
      clock,
      minInterval: updateRate,
      pressingInterval: Math.min(pressingInterval, updateRate),
      isPressing: () => demand.count() > 0,
      run: (signal) => this.#write(signal),
      onBug: (error) => log.error('a bug: please report it', { error }),
    });
  }

  /** Takes in the object. */
  protected abstract take(raw: JsonObject): void;

  /** The patches of this node; none as long as it does not know what is held. */
  protected abstract patches(raw: JsonObject): NodePatches;

  /** Called before a spec is written that was computed from `raw`; returns what prevents it. */
  protected abstract beforeSpec(raw: JsonObject): string | undefined;

  abstract refresh(): void;

  get missing(): string {
    return this.ownNode.missing;
  }

  get synced(): Promise<void> {
    return this.ownNode.synced;
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.ownNode.run(signal);
    } finally {
      await this.#trigger.stop();
    }
  }

  notice(event: IpamEvent): void {
    this.options.demand.take(event);
    this.update();
  }

  /** Writes what differs, in its time. */
  update(): void {
    const { spec, status } = this.#due() ?? {};
    if (spec !== undefined || status !== undefined) this.#trigger.fire();
  }

  #due(): (NodePatches & { readonly target: WriteTarget }) | undefined {
    const raw = this.ownNode.object;
    return raw && { ...this.patches(raw), target: readIdentity(raw) };
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { spec, target } = this.#due() ?? {};
    if (target !== undefined && spec !== undefined) {
      const { object } = this.ownNode;
      const prevents = object && this.beforeSpec(object);
      const outcome =
        prevents === undefined
          ? await this.#writer.patchSpec(target, spec, signal)
          : ({ kind: 'unavailable', message: prevents } as const);
      if (!this.#noteOutcome(outcome)) return;
    }
    // The answer is the base of what follows.
    const next = this.#due();
    if (next?.status !== undefined)
      this.#noteOutcome(await this.#writer.patchStatus(next.target, next.status, signal));
  }

  /** Returns whether it is written. After anything else, it is tried again. */
  #noteOutcome(outcome: WriteOutcome): boolean {
    if (outcome.kind === 'written') {
      this.#problem = undefined;
      this.ownNode.observe(outcome.raw);
      return true;
    }
    const problem = outcome.kind === 'gone' ? 'the CiliumNode is gone' : outcome.message;
    if (problem !== this.#problem && outcome.kind !== 'conflict')
      this.options.surroundings.log.warn('cannot write the CiliumNode of this node', { problem });
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
