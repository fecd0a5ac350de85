// Detects a second allocator: blocks that this process did not write appear while it leads. A manual edit concerns one
// object; an allocator goes on with others, and one that is known by its name need not do so first.
import type { Clock } from '../../runtime/clock.ts';

/** Two objects within this time show an allocator, and the pause ends after it without a further one, in ms. */
const quietFor = 300_000;

export class OtherAllocators {
  readonly #clock: Clock;
  readonly #onChange: (isAtWork: boolean) => void;
  /** Objects with others' blocks, and when they appeared, in monotonic ms. */
  readonly #seen = new Map<string, number>();
  #last: { readonly node: string; readonly at: number } | undefined;
  #isAtWork = false;
  #cancel: () => void = () => undefined;

  /** `onChange`: called when another allocator is detected, and when none has written for long enough. */
  constructor(clock: Clock, onChange: (isAtWork: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** The last object that shows it, and the remaining quiet time in ms; undefined while none is at work. */
  get last(): { readonly node: string; readonly quietIn: number } | undefined {
    if (this.#last === undefined || !this.#isAtWork) return undefined;
    const { node, at } = this.#last;
    return { node, quietIn: at + quietFor - this.#clock.monotonic() };
  }

  /** An object shows blocks that this process did not write. `isByAllocator`: their writer shows an allocator by its name. */
  note(node: string, isByAllocator = false): void {
    const now = this.#clock.monotonic();
    for (const [name, at] of this.#seen) if (at < now - quietFor) this.#seen.delete(name);
    this.#seen.set(node, now);
    this.#last = { node, at: now };
    if (this.#seen.size < 2 && !isByAllocator && !this.#isAtWork) return;
    this.#cancel();
    this.#cancel = this.#clock.schedule(quietFor, () => this.#end());
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    this.#onChange(true);
  }

  stop(): void {
    this.#cancel();
  }

  #end(): void {
    this.#isAtWork = false;
    this.#seen.clear();
    this.#onChange(false);
  }
}
