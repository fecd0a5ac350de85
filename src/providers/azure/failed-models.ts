// What a failed change leaves behind. The model of a scale-set VM keeps saying what was wanted, and every later PUT would
// ask for it again: in a full subnet none would ever succeed, not even one that gives addresses back.
import type { Clock } from '../../runtime/clock.ts';
import type { JsonObject } from './arm-api.ts';
import { nameOfInterface } from './ids.ts';
import { hasFailed, ourNamesIn, withRemovalsFromVm } from './instance-model.ts';
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
  /** By instance: since when its model has been failed in that state, in monotonic ms. */
  readonly #since = new Map<string, { readonly etag: string; readonly at: number }>();

  constructor(options: FailedModelsOptions) {
    this.#options = options;
  }

  /**
   * The model without configurations that never came to be: interfaces that were read after it lack them, and nothing has
   * changed for so long that they would show them. Undefined while that is not certain.
   */
  cleaned(instanceId: string, model: VmModel, shown: readonly ShownInterface[]): JsonObject | undefined {
    const missing = hasFailed(model.body)
      ? missingFrom(model.body, shown)
      : new Map<string, readonly string[]>();
    if (missing?.size === 0) {
      this.#since.delete(instanceId);
      return model.body;
    }
    if (!this.#isOld(instanceId, model) || missing === undefined) return undefined;
    const edited = withRemovalsFromVm(model.body, missing);
    return edited.kind === 'edited' ? edited.model : undefined;
  }

  #isOld(instanceId: string, { etag = '' }: VmModel): boolean {
    const { clock, consistencyWindow } = this.#options;
    const now = clock.monotonic();
    const known = this.#since.get(instanceId);
    if (known?.etag === etag) return now - known.at >= consistencyWindow;
    this.#since.set(instanceId, { etag, at: now });
    return false;
  }
}

/** Names of configurations by interface. Undefined if an interface does not say what it has. */
function missingFrom(
  model: JsonObject,
  shown: readonly ShownInterface[],
): ReadonlyMap<string, readonly string[]> | undefined {
  const byName = new Map(shown.map((item) => [nameOfInterface(item.id).toLowerCase(), item.read]));
  const missing = new Map<string, readonly string[]>();
  for (const [name, names] of ourNamesIn(model)) {
    const read = byName.get(name.toLowerCase());
    if (read === undefined || 'problem' in read || read.interface.condition === 'changing') return undefined;
    const left = names.filter((each) => !read.names.has(each));
    if (left.length > 0) missing.set(name, left);
  }
  return missing;
}
