// Removes addresses from the interfaces of one instance. The interfaces are read after the model: the PUT is sent only if
// nothing changed since, so each name still has its address. Removals from several interfaces of a VM at the same time
// share a PUT, which never adds anything.
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome, ReleaseIPs } from '../contract/operations.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { failure } from './arm-client.ts';
import type { VmModel } from './failed-models.ts';
import { instanceKey, parseInterfaceId, type ScaleSetVm } from './ids.ts';
import {
  admittedFor,
  changeModel,
  noSuchTarget,
  type ModelResult,
  notCertain,
  type Prepared,
  readInterfaces,
  type Target,
  type UpdateParts,
  type Resource,
  resourceOf,
} from './model-change.ts';
import { readInterface } from './network-interface.ts';
import { planRemovals, type Refusal, type RemovalFacts } from './removal-plan.ts';

/** How old the agent's agreement to a release may be when the PUT leaves, in ms. The caller read it before the call. */
const maxPreparation = 15_000;

/** Removals that one PUT of the model makes together. */
interface Batch {
  readonly instanceId: string;
  readonly startedAt: number;
  /** The first operation's. Before the PUT, its subjects become those of all. */
  readonly change: CallContext['change'];
  /** By the id of the interface. */
  readonly removals: Map<string, readonly string[]>;
  /** Why interfaces cannot take part, by the id of the interface. */
  refusals: ReadonlyMap<string, Refusal>;
}

interface BegunBatch {
  readonly batch: Batch;
  readonly result: Promise<ModelResult>;
}

export class InstanceReleases {
  readonly #parts: UpdateParts;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Batches whose PUT is not written yet, by instance. */
  readonly #open = new Map<string, BegunBatch>();

  constructor(parts: UpdateParts, clock: Pick<Clock, 'monotonic'>) {
    this.#parts = parts;
    this.#clock = clock;
  }

  /**
   * Resolves once the addresses are gone from the interface, or are sure to stay. Addresses that the interface no longer
   * has count as released. Never rejects for anything Azure does.
   */
  async release(operation: ReleaseIPs, context: CallContext): Promise<Outcome> {
    const { instanceId, interfaceId, addresses } = operation;
    const begun = this.#joined(operation) ?? this.#begun(operation, context);
    if (begun === undefined) return { kind: 'failed', failure: noSuchTarget(operation) };
    const result = await begun.result;
    const refusal = begun.batch.refusals.get(interfaceId);
    if (refusal !== undefined)
      return { kind: 'failed', failure: failure(admitted(instanceId), refusal.code, refusal.problem) };
    if (result.kind !== 'shown') return result;
    return { kind: 'done', answer: { kind: 'released', instanceId, interfaceId, holdings: addresses } };
  }

  /** The tokens of one PUT are enough. */
  #joined({ instanceId, interfaceId, addresses }: ReleaseIPs): BegunBatch | undefined {
    const open = this.#open.get(instanceKey(instanceId));
    if (open === undefined || open.batch.removals.has(interfaceId)) return undefined;
    open.batch.removals.set(interfaceId, addresses);
    this.#parts.client.refund(admitted(instanceId));
    return open;
  }

  #begun({ instanceId, interfaceId, addresses }: ReleaseIPs, context: CallContext): BegunBatch | undefined {
    const batch: Batch = {
      instanceId,
      startedAt: this.#clock.monotonic(),
      change: context.change,
      removals: new Map([[interfaceId, addresses]]),
      refusals: new Map(),
    };
    const resource = resourceOf({ instanceId, interfaceId });
    if (resource === undefined || parseInterfaceId(interfaceId) === undefined) return undefined;
    const prepare: Target['prepare'] = (model, by) => this.#prepare(batch, resource, model, by);
    const target: Target = { ...resource, effect: 'takesAway', prepare };
    const within = { ...context, instanceId };
    const result = changeModel(this.#parts, target, within).finally(() => this.#close(batch));
    const begun = { batch, result };
    if (resource.vm !== undefined) this.#open.set(instanceKey(instanceId), begun);
    return begun;
  }

  /** Nothing joins it any more. */
  #close(batch: Batch): void {
    const key = instanceKey(batch.instanceId);
    if (this.#open.get(key)?.batch === batch) this.#open.delete(key);
  }

  #prepare(
    batch: Batch,
    { vm }: Resource,
    model: VmModel,
    context: CallContext,
  ): Promise<Prepared> | Prepared {
    if (vm !== undefined) return this.#prepareVm(batch, { vm, model }, context);
    const shown = readInterface(model.body, this.#parts.spellings, batch.instanceId);
    const read = shown === undefined ? [] : [shown];
    return this.#plan(batch, { model: model.body, isWhole: false, shown: read });
  }

  async #prepareVm(
    batch: Batch,
    { vm, model }: { readonly vm: ScaleSetVm; readonly model: VmModel },
    context: CallContext,
  ): Promise<Prepared> {
    const shown = await readInterfaces(this.#parts, vm, context);
    const leaving = new Set([...batch.removals.values()].flat());
    const cleaned = this.#parts.failedModels.cleaned(batch.instanceId, model, shown, leaving);
    return this.#plan(batch, { model: cleaned, isWhole: true, shown });
  }

  #plan(batch: Batch, { model, ...read }: Reading): Prepared {
    this.#close(batch);
    if (model === undefined) return notCertain;
    const { instanceId, removals, startedAt } = batch;
    const { prepared, refusals } = planRemovals({ instanceId, removals, model, ...read });
    batch.refusals = refusals;
    const leaving = [...removals].filter(([id]) => !refusals.has(id));
    if (batch.change !== undefined)
      batch.change.subjects = leaving.map(([id, addresses]) => ({ interface: id, addresses }));
    const isLate = this.#clock.monotonic() - startedAt > maxPreparation;
    return isLate && prepared.kind === 'change' ? tooSlow : prepared;
  }
}

interface Reading extends Pick<RemovalFacts, 'isWhole' | 'shown'> {
  /** Undefined if it is not certain. */
  readonly model: JsonObject | undefined;
}

const tooSlow: Refusal = {
  kind: 'refused',
  code: 'PreparationTooSlow',
  problem: 'the reads before the change took too long',
};

function admitted(instanceId: string): NonNullable<ReturnType<typeof admittedFor>> {
  const request = admittedFor(instanceId, 'takesAway');
  if (request === undefined) throw new Error(`${instanceId} is no instance of Azure`);
  return request;
}
