// Long-running operations: what a change answers with, and what polls of it show.
import { ArmRefusal } from './arm-refusal.ts';

export interface Operation {
  readonly id: string;
  readonly provider: string;
  readonly subscription: string;
  /** Key of the resource that it changes. */
  readonly resourceId: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly status: 'InProgress' | 'Succeeded' | 'Failed' | 'Canceled';
  readonly error?: { readonly code: string; readonly message: string };
}

/** How long a finished operation can be asked for. */
const rememberedMs = 24 * 3_600_000;

export class Operations {
  readonly #now: () => number;
  readonly #known = new Map<string, Operation>();

  /** `now` is the wall clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get all(): ReadonlyMap<string, Operation> {
    return this.#known;
  }

  beginOperation(operation: Omit<Operation, 'status' | 'startedAt'>): Operation {
    this.#forgetOld();
    const started: Operation = { ...operation, startedAt: this.#now(), status: 'InProgress' };
    this.#known.set(started.id, started);
    return started;
  }

  end(id: string, error?: Operation['error']): void {
    const operation = this.#known.get(id);
    if (operation === undefined || operation.status !== 'InProgress') return;
    this.#known.set(id, {
      ...operation,
      endedAt: this.#now(),
      ...(error === undefined ? { status: 'Succeeded' } : { status: 'Failed', error }),
    });
  }

  /** Drops an operation that never began. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  find(id: string, subscription: string): Operation {
    const operation = this.#known.get(id.toLowerCase());
    if (operation?.subscription.toLowerCase() === subscription.toLowerCase()) return operation;
    throw new ArmRefusal('NotFound', `Operation id ${id} not found`, 404);
  }

  #forgetOld(): void {
    const horizon = this.#now() - rememberedMs;
    for (const { id, endedAt } of this.#known.values()) {
      if (endedAt === undefined || endedAt > horizon) return;
      this.#known.delete(id);
    }
  }
}
