// Violations for addresses in use, detected by the agent that assigned them. A run with an entry here has failed.
import type { Clock } from '../../runtime/clock.ts';
import type { Recorder } from './journal.ts';

export type ViolationKind =
  /** The address left pool or status while in use. */
  | 'address-vanished'
  /** Its interface left the status while in use. */
  | 'interface-vanished'
  /** Another interface than before offers it. */
  | 'address-moved'
  /** The release handshake reports it as released while in use. */
  | 'released-while-in-use'
  /** The restarted agent did not find it. */
  | 'lost-across-restart'
  /** It was offered without its routing data in the status. */
  | 'offered-without-interface'
  /** Its interface is not set up: the agent may not, or not yet, as its CiliumNode is. */
  | 'interface-not-set-up'
  /** The status cannot be decoded, so the agent sees nothing of the object. */
  | 'unreadable-status'
  /** Two nodes assigned it to pods. */
  | 'used-on-two-nodes';

export interface Violation {
  /** Monotonic ms of the shared clock. */
  readonly at: number;
  readonly node: string;
  /** `namespace/name`, or the agent's own purpose. */
  readonly pod: string;
  readonly address: string;
  /** Id of the interface with the address, if known. */
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
