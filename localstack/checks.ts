// Counts what holds and what does not, says it line by line, and waits for what is to come about.
import { sleep } from '../src/runtime/clock.ts';
import type { ProcessEnvironment } from './surroundings.ts';

/** What keeps a check from being passed: nothing, or a line for each. */
export type Problems = readonly string[];

/** What was waited for did not come about: nothing that follows makes sense. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/** Only to end what hangs: how long a state is waited for, in ms. */
const longestWait = 60_000;
const betweenLooks = 200;
const mostLines = 12;

export class Checks {
  readonly #options: ProcessEnvironment;
  #hopeless: string | undefined;
  #passed = 0;
  #failed = 0;

  constructor(options: ProcessEnvironment) {
    this.#options = options;
  }

  get passed(): number {
    return this.#passed;
  }

  get failed(): number {
    return this.#failed;
  }

  /** Ends all waiting: nothing more will come about. */
  abandon(why: string): void {
    this.#hopeless = why;
  }

  /** Checks what holds now. */
  expect(what: string, problems: Problems): void {
    const { say } = this.#options;
    if (problems.length === 0) this.#passed += 1;
    else this.#failed += 1;
    say(`${problems.length === 0 ? 'ok    ' : 'not ok'}  ${what}`);
    for (const problem of problems.slice(0, mostLines)) say(`          ${problem}`);
    if (problems.length > mostLines) say(`          and ${problems.length - mostLines} more`);
  }

  /** Waits until it holds. Rejects with GivenUp when it does not come to that. */
  async until(what: string, look: () => Problems | Promise<Problems>): Promise<void> {
    const { clock, signal } = this.#options;
    const start = clock.monotonic();
    for (;;) {
      const problems = await look();
      const waited = clock.monotonic() - start;
      const end = this.#hopeless ?? (waited > longestWait ? `not within ${longestWait / 1000} s` : undefined);
      if (problems.length === 0 || end !== undefined) {
        this.expect(what, problems.length === 0 ? [] : [String(end), ...problems]);
        if (problems.length > 0) throw new GivenUp(what);
        return;
      }
      await sleep(clock, betweenLooks, signal);
    }
  }
}
