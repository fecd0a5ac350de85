// What must never happen to an address that a pod uses, noticed by the agent that gave it. A run with an entry here has
// failed.
import type { Clock } from '../../scheduling/clock.ts';
import type { Recorder } from './journal.ts';

export type ViolationKind =
  /** The address left pool or status while in use. */
  | 'address-vanished'
  /** Its interface left the status while in use. */
  | 'interface-vanished'
  /** It is offered by another interface than the one that it was taken from. */
  | 'address-moved'
  /** The release handshake calls it released while in use. */
  | 'released-while-in-use'
  /** The agent started again and did not find it. */
  | 'lost-across-restart'
  /** It was offered, but what routes it was not to be found in the status. */
  | 'offered-without-interface'
  /** Two nodes gave it to their pods. */
  | 'used-on-two-nodes';

export interface Violation {
  /** Monotonic ms of the clock that everything runs on. */
  readonly at: number;
  readonly node: string;
  /** `namespace/name`, or what the agent took the address for. */
  readonly pod: string;
  readonly address: string;
  /** Of the interface that carried the address, where it is known. */
  readonly interfaceId: string;
  readonly what: ViolationKind;
}

export class ViolationLog {
  readonly #node: string;
  readonly #clock: Clock;
  readonly #record: Recorder;
  readonly #entries: Violation[] = [];

  constructor(node: string, clock: Clock, record: Recorder) {
    this.#node = node;
    this.#clock = clock;
    this.#record = record;
  }

  get entries(): readonly Violation[] {
    return this.#entries;
  }

  add(violation: Omit<Violation, 'at' | 'node'>): void {
    this.#entries.push({ at: this.#clock.monotonic(), node: this.#node, ...violation });
    this.#record('violation', violation.address, `${violation.what} ${violation.pod}`);
  }
}
