// What writes of ours struck from a node because its instance had lost it to others. That was right when it was written, and its
// agent hears of it later: when the interface is attached again by then, the instance has the address as if it had never been
// lost.
import type { ViolationKind } from '../../../src/simulator/workload/violation-log.ts';

/** By when an agent has heard of what was written: longer than any delay of a watch in a scenario, in ms. */
const heardWithin = 180_000;

export class RightStrikes {
  readonly #now: () => number;
  /** By instance and address, until when its agent may find that it is not shown; Infinity until it is shown again. */
  readonly #until = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A write of ours struck the address. `isRight`: that is somebody else's doing. */
  struck(instanceId: string, address: string, isRight: boolean): void {
    if (isRight) this.#until.set(keyOf(instanceId, address), Infinity);
    else this.#until.delete(keyOf(instanceId, address));
  }

  /** A write of ours shows the address anew. */
  shown(instanceId: string, address: string): void {
    const key = keyOf(instanceId, address);
    if (this.#until.get(key) === Infinity) this.#until.set(key, this.#now() + heardWithin);
  }

  /** Whether what an agent finds may be that the address is not shown, because it was rightly struck. */
  account(instanceId: string, address: string, finding: string): boolean {
    const until = this.#until.get(keyOf(instanceId, address)) ?? -Infinity;
    return this.#now() <= until && absences.has(finding);
  }
}

/** What an agent says of an address that it is not shown. What else it finds, a strike does not account for. */
const absences: ReadonlySet<string> = new Set([
  'address-vanished',
  'interface-vanished',
  'lost-across-restart',
] satisfies ViolationKind[]);

function keyOf(instanceId: string, address: string): string {
  return `${instanceId} ${address}`;
}
