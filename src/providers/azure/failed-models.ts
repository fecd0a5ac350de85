// The leftovers of a failed change. The model of a scale-set VM keeps saying what was wanted, and every later PUT would
// ask for it again: in a full subnet none would ever succeed, not even one that gives addresses back, and a failed release
// would take away addresses that have been offered again since.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { CloudError } from '../contract/cloud-failure.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { unreadable } from './arm-client.ts';
import { instanceKey, nameOfInterface } from './ids.ts';
import {
  associationsIn,
  type Edit,
  hasFailed,
  type NamesByInterface,
  ourNamesIn,
  withAdditionsToVm,
  withoutAssociations,
  withRemovalsFromVm,
} from './instance-model.ts';
import type { ShownInterface } from './network-interface.ts';

export interface VmModel {
  readonly body: JsonObject;
  readonly etag: string | undefined;
}

export class FailedModels {
  readonly #clock: Clock;
  readonly #consistencyWindow: number;
  /** By instance: its failed model, and what it asked for in vain. */
  readonly #since = new Map<string, FailedState>();

  /** `consistencyWindow`: how long after a change a read may still lack it, in ms. */
  constructor(clock: Clock, consistencyWindow: number) {
    this.#clock = clock;
    this.#consistencyWindow = consistencyWindow;
  }

  /**
   * The model as the interfaces are: without configurations that never came to be, and with those that were not removed.
   * Interfaces that were read after it show that, and nothing has changed for so long that they would show it otherwise.
   * Undefined while that is not certain. Throws a CloudError if an interface cannot be understood. `leaving`: addresses that
   * are removed next, whatever the model has of them.
   */
  cleaned(
    instanceId: string,
    model: VmModel,
    shown: readonly ShownInterface[],
    leaving: ReadonlySet<string> = new Set(),
  ): JsonObject | undefined {
    if (!hasFailed(model.body)) {
      this.#since.delete(instanceKey(instanceId));
      return model.body;
    }
    const isOld = this.#isOld(instanceId, model, leftoversIn(model.body, shown));
    for (const { id, read } of shown) if ('problem' in read) throw notUnderstood(id, read.problem);
    if (!isOld) return undefined;
    const leftovers = leftoversIn(model.body, shown, leaving);
    if (leftovers === undefined) return undefined;
    const { names, kept, associations } = leftovers;
    if (names.size + kept.size + associations.length === 0) return model.body;
    return corrected(model.body, leftovers);
  }

  /** Resolves once what was not certain by the last read of this instance may be. Rejects with the reason of the signal. */
  async waitUntilCertain(instanceId: string, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const { at = now } = this.#since.get(instanceKey(instanceId)) ?? {};
    await sleep(this.#clock, Math.max(0, at + this.#consistencyWindow - now), signal);
  }

  /** A read shows these interfaces. What was missing and is not now may have been missing for a moment only. */
  noteShown(shown: readonly ShownInterface[]): void {
    if (this.#since.size === 0) return;
    for (const { id, instanceId, read } of shown) {
      const { leftovers } = this.#since.get(instanceKey(instanceId)) ?? {};
      if (leftovers === undefined || 'problem' in read) continue;
      const name = nameOfInterface(id).toLowerCase();
      const missing = [...leftovers.names].flatMap(([each, left]) =>
        each.toLowerCase() === name ? left : [],
      );
      if (missing.some((each) => read.names.has(each))) this.#since.delete(instanceKey(instanceId));
    }
  }

  /** Forgets all other instances. They are named in lower case, as by agents. */
  keepOnly(instanceIds: ReadonlySet<string>): void {
    for (const instanceId of this.#since.keys())
      if (!instanceIds.has(instanceId)) this.#since.delete(instanceId);
  }

  /**
   * The leftovers that a later read lacks besides, of the model or of the interfaces, may be lacking for a moment only: with
   * that the time begins anew. For the same reason one read that shows no difference is not enough.
   */
  #isOld(instanceId: string, { etag = '' }: VmModel, leftovers: Leftovers | undefined): boolean {
    const now = this.#clock.monotonic();
    const known = this.#since.get(instanceKey(instanceId));
    if (known?.etag === etag && lacksNoMore(leftovers, known.leftovers))
      return now - known.at >= this.#consistencyWindow;
    this.#since.set(instanceKey(instanceId), { etag, at: now, leftovers });
    return false;
  }
}

function notUnderstood(interfaceId: string, problem: string): CloudError {
  const name = nameOfInterface(interfaceId);
  return unreadable(
    { operation: 'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces' },
    `the last change of the VM failed, and what it left of ${name} is not known: ${problem}`,
  );
}

interface FailedState {
  readonly etag: string;
  readonly at: number;
  readonly leftovers: Leftovers | undefined;
}

interface Leftovers {
  /** Names of configurations that the model has and the interface has not, by interface. */
  readonly names: NamesByInterface;
  /** Names of configurations of ours that the interface has and the model has not, by interface. */
  readonly kept: NamesByInterface;
  /** Names of interfaces that have no public address. */
  readonly associations: readonly string[];
}

function corrected(model: JsonObject, { names, kept, associations }: Leftovers): JsonObject | undefined {
  const steps: readonly ((before: JsonObject) => Edit)[] = [
    (before) => withRemovalsFromVm(before, names),
    (before) => withoutAssociations(before, associations),
    (before) =>
      withAdditionsToVm(
        before,
        [...kept].map(([name, { length }]) => ({ name, count: length })),
        kept,
      ),
  ];
  let edited: Edit = { kind: 'edited', model };
  for (const step of steps) if (edited.kind === 'edited') edited = step(edited.model);
  return edited.kind === 'edited' ? edited.model : undefined;
}

/** Whether the interfaces show at least what they showed before. Undefined: they did not say what they have. */
function lacksNoMore(now: Leftovers | undefined, before: Leftovers | undefined): boolean {
  if (now === undefined || before === undefined) return false;
  const isIn = (own: NamesByInterface, other: NamesByInterface): boolean =>
    [...own].every(([name, each]) => each.every((one) => other.get(name)?.includes(one) === true));
  return (
    isIn(now.names, before.names) &&
    isIn(before.kept, now.kept) &&
    now.associations.every((name) => before.associations.includes(name))
  );
}

/** Undefined if an interface does not say what it has, or is changing. */
function leftoversIn(
  model: JsonObject,
  shown: readonly ShownInterface[],
  leaving: ReadonlySet<string> = new Set(),
): Leftovers | undefined {
  const byName = new Map(shown.map((item) => [nameOfInterface(item.id).toLowerCase(), item.read]));
  if ([...byName.values()].some((read) => !isSettled(read))) return undefined;
  const names = new Map<string, readonly string[]>();
  const associations: string[] = [];
  const wanted = ourNamesIn(model);
  const associated = associationsIn(model);
  for (const name of new Set([...wanted.keys(), ...associated])) {
    const read = byName.get(name.toLowerCase());
    if (read === undefined || 'problem' in read) return undefined;
    const left = (wanted.get(name) ?? []).filter((each) => !read.names.has(each));
    if (left.length > 0) names.set(name, left);
    if (associated.includes(name) && read.publicAddressId === undefined) associations.push(name);
  }
  return { names, kept: keptIn(wanted, byName, leaving), associations };
}

function isSettled(read: ShownInterface['read']): boolean {
  return !('problem' in read) && read.interface.condition !== 'changing';
}

function keptIn(
  wanted: NamesByInterface,
  byName: ReadonlyMap<string, ShownInterface['read']>,
  leaving: ReadonlySet<string>,
): NamesByInterface {
  const inModel = new Map([...wanted].map(([name, each]) => [name.toLowerCase(), new Set(each)]));
  const kept = [...byName].map(([name, read]) => {
    const ours = 'problem' in read ? [] : [...read.releasable];
    const isKept = ([address, each]: readonly [string, string]): boolean =>
      !leaving.has(address) && inModel.get(name)?.has(each) !== true;
    return [name, ours.filter(isKept).map(([, each]) => each)] as const;
  });
  return new Map(kept.filter(([, each]) => each.length > 0));
}
