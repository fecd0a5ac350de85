// Counts passed and failed checks, prints a line for each, and waits for states.
import { sleep } from '../src/runtime/clock.ts';
import type { ProcessEnvironment } from './process-environment.ts';

/** One line for each problem; a check without problems passes. */
export type Problems = readonly string[];

/** An awaited state was not reached: no later check makes sense. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/** The longest wait for a state, in ms: only to end a run that hangs. */
const maxWait = 60_000;
const betweenLooks = 200;
const maxLines = 12;

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

  /** Ends all waiting, because no state will change any longer. */
  abandon(why: string): void {
    this.#hopeless = why;
  }

  /** Records a check: it passes if there are no problems now. */
  expect(what: string, problems: Problems): void {
    const { say } = this.#options;
    if (problems.length === 0) this.#passed += 1;
    else this.#failed += 1;
    say(`${problems.length === 0 ? 'ok    ' : 'not ok'}  ${what}`);
    for (const problem of problems.slice(0, maxLines)) say(`          ${problem}`);
    if (problems.length > maxLines) say(`          and ${problems.length - maxLines} more`);
  }

  /** Waits until there are no problems. Rejects with GivenUp after the longest wait. */
  async until(what: string, look: () => Problems | Promise<Problems>): Promise<void> {
    const { clock, signal } = this.#options;
    const start = clock.monotonic();
    for (;;) {
      const problems = await look();
      const waited = clock.monotonic() - start;
      const end = this.#hopeless ?? (waited > maxWait ? `not within ${maxWait / 1000} s` : undefined);
      if (problems.length === 0 || end !== undefined) {
        this.expect(what, problems.length === 0 ? [] : [String(end), ...problems]);
        if (problems.length > 0) throw new GivenUp(what);
        return;
      }
      await sleep(clock, betweenLooks, signal);
    }
  }
}
