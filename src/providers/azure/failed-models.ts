// What a failed change leaves behind. The model of a scale-set VM keeps saying what was wanted, and every later PUT would
// ask for it again: in a full subnet none would ever succeed, not even one that gives addresses back.
import type { Clock } from '../../runtime/clock.ts';
import type { JsonObject } from './arm-api.ts';
import { instanceKey, nameOfInterface } from './ids.ts';
import {
  associationsIn,
  hasFailed,
  type NamesByInterface,
  ourNamesIn,
  withoutAssociations,
  withRemovalsFromVm,
} from './instance-model.ts';
import type { ShownInterface } from './network-interface.ts';

export interface FailedModelsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long after a change a read may still lack it, in ms. */
  readonly consistencyWindow: number;
}

export interface VmModel {
  readonly body: JsonObject;
  readonly etag: string | undefined;
}

export class FailedModels {
  readonly #options: FailedModelsOptions;
  /** By instance: its failed model, and what it asked for in vain. */
  readonly #since = new Map<string, FailedState>();

  constructor(options: FailedModelsOptions) {
    this.#options = options;
  }

  /**
   * The model without configurations that never came to be: interfaces that were read after it lack them, and nothing has
   * changed for so long that they would show them. Undefined while that is not certain.
   */
  cleaned(instanceId: string, model: VmModel, shown: readonly ShownInterface[]): JsonObject | undefined {
    const leftovers = hasFailed(model.body) ? leftoversIn(model.body, shown) : none;
    if (leftovers !== undefined && leftovers.names.size + leftovers.associations.length === 0) {
      this.#since.delete(instanceKey(instanceId));
      return model.body;
    }
    if (!this.#isOld(instanceId, model, leftovers) || leftovers === undefined) return undefined;
    const removed = withRemovalsFromVm(model.body, leftovers.names);
    if (removed.kind === 'refused') return undefined;
    const edited = withoutAssociations(removed.model, leftovers.associations);
    return edited.kind === 'edited' ? edited.model : undefined;
  }

  /** Forgets all other instances. They are named in lower case, as by agents. */
  keepOnly(instanceIds: ReadonlySet<string>): void {
    for (const instanceId of this.#since.keys())
      if (!instanceIds.has(instanceId)) this.#since.delete(instanceId);
  }

  /** What a later read lacks besides may be lacking for a moment only, so with that the time begins anew. */
  #isOld(instanceId: string, { etag = '' }: VmModel, leftovers: Leftovers | undefined): boolean {
    const { clock, consistencyWindow } = this.#options;
    const now = clock.monotonic();
    const known = this.#since.get(instanceKey(instanceId));
    if (known?.etag === etag && isWithin(leftovers, known.leftovers))
      return now - known.at >= consistencyWindow;
    this.#since.set(instanceKey(instanceId), { etag, at: now, leftovers });
    return false;
  }
}

interface FailedState {
  readonly etag: string;
  readonly at: number;
  readonly leftovers: Leftovers | undefined;
}

interface Leftovers {
  /** Names of configurations, by interface. */
  readonly names: NamesByInterface;
  /** Names of interfaces that have no public address. */
  readonly associations: readonly string[];
}

function isWithin(leftovers: Leftovers | undefined, before: Leftovers | undefined): boolean {
  const { names, associations } = leftovers ?? none;
  const isKnown = (name: string, each: string): boolean => before?.names.get(name)?.includes(each) === true;
  return (
    [...names].every(([name, left]) => left.every((each) => isKnown(name, each))) &&
    associations.every((name) => before?.associations.includes(name) === true)
  );
}

const none: Leftovers = { names: new Map(), associations: [] };

/** Undefined if an interface does not say what it has. */
function leftoversIn(model: JsonObject, shown: readonly ShownInterface[]): Leftovers | undefined {
  const byName = new Map(shown.map((item) => [nameOfInterface(item.id).toLowerCase(), item.read]));
  const names = new Map<string, readonly string[]>();
  const associations: string[] = [];
  const wanted = ourNamesIn(model);
  const associated = associationsIn(model);
  for (const name of new Set([...wanted.keys(), ...associated])) {
    const read = byName.get(name.toLowerCase());
    if (read === undefined || 'problem' in read || read.interface.condition === 'changing') return undefined;
    const left = (wanted.get(name) ?? []).filter((each) => !read.names.has(each));
    if (left.length > 0) names.set(name, left);
    if (associated.includes(name) && read.publicAddressId === undefined) associations.push(name);
  }
  return { names, associations };
}
