// How many addresses or prefixes a node asks an interface for at once. The cloud may have a lower limit than is known, so
// after a refusal half as many are asked for, down to one. Each time that this succeeds, twice as many may follow.
import { LazyMap } from '../../runtime/lazy-collections.ts';
import type { PlannedStep } from './planned-step.ts';

/** The id of an interface, or `new` for any that is yet to be created. */
export type AskedInterface = string;

interface Bound {
  readonly max: number;
  /** The size that was refused: from then on, everything may be asked for again. */
  readonly refused: number;
}

export class RefusedSizes {
  readonly #bounds = new LazyMap<AskedInterface, Bound>();

  /** Infinity if nothing was refused. */
  max(interfaceId: AskedInterface): number {
    return this.#bounds.get(interfaceId)?.max ?? Infinity;
  }

  /** Returns whether a smaller step may do. */
  refused(step: PlannedStep): boolean {
    const { interfaceId, size } = sizeOf(step);
    if (size <= 1) return false;
    const refused = Math.max(size, this.#bounds.get(interfaceId)?.refused ?? 0);
    this.#bounds.set(interfaceId, { max: Math.min(this.max(interfaceId), Math.floor(size / 2)), refused });
    return true;
  }

  worked(step: PlannedStep): void {
    const { interfaceId, size } = sizeOf(step);
    const bound = this.#bounds.get(interfaceId);
    if (bound === undefined || size < bound.max) return;
    if (2 * size >= bound.refused) this.#bounds.delete(interfaceId);
    else this.#bounds.set(interfaceId, { ...bound, max: 2 * size });
  }
}

function sizeOf(step: PlannedStep): { readonly interfaceId: AskedInterface; readonly size: number } {
  switch (step.kind) {
    case 'createInterface':
      return { interfaceId: 'new', size: step.count + step.prefixCount };
    case 'adoptInterface':
    case 'allocateIpv6Prefix':
      return { interfaceId: step.interfaceId, size: 0 };
    default:
      return { interfaceId: step.interfaceId, size: step.count };
  }
}
