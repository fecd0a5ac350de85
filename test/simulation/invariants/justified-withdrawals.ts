// What writes of ours rightly struck from a node. Its agent hears of that later.
//
// What the instance had lost to others: when the interface is attached again by the time at which the agent hears, the
// instance has the address as if it had never been lost. What no pod had: one can take it before the agent hears, which then
// goes on with it, unless the agent is started anew before it is shown again.
import type { ViolationKind } from '../../../src/simulator/workload/violation-log.ts';

/** By when an agent has heard of what was written: longer than any delay of a watch in a scenario, in ms. */
const heardWithin = 180_000;
/** By when a controller shows again what a pod took too late: longer than there is no leader, however it ended, in ms. */
const shownAgainWithin = 600_000;

export class RightStrikes {
  readonly #now: () => number;
  /** By instance and address, until when its agent may find that it is not shown; Infinity until it is shown again. */
  readonly #until = new Map<string, number>();
  /** The same for what no pod had, if the agent is started anew. */
  readonly #freeUntil = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A write of ours struck the address. `was`: lost to others, had by no pod, or had by one. */
  struck(instanceId: string, address: string, was: Standing): void {
    const key = keyOf(instanceId, address);
    if (was === 'lost') this.#until.set(key, Infinity);
    else this.#until.delete(key);
    if (was === 'free') this.#freeUntil.set(key, this.#now() + shownAgainWithin);
    else this.#freeUntil.delete(key);
  }

  /** A write of ours shows the address anew. */
  shown(instanceId: string, address: string): void {
    const key = keyOf(instanceId, address);
    if (this.#until.get(key) === Infinity) this.#until.set(key, this.#now() + heardWithin);
  }

  /** Whether what an agent finds may be that the address is not shown, because it was rightly struck. */
  account(instanceId: string, address: string, finding: string): boolean {
    const key = keyOf(instanceId, address);
    const now = this.#now();
    if (now <= (this.#until.get(key) ?? -Infinity)) return absences.has(finding);
    return now <= (this.#freeUntil.get(key) ?? -Infinity) && finding === lostByRestart;
  }
}

/** What an address was that a write of ours struck. */
export type Standing = 'lost' | 'free' | 'in use';

const lostByRestart = 'lost-across-restart' satisfies ViolationKind;

/** What an agent says of an address that it is not shown. What else it finds, a strike does not account for. */
const absences: ReadonlySet<string> = new Set([
  'address-vanished',
  'interface-vanished',
  lostByRestart,
] satisfies ViolationKind[]);

function keyOf(instanceId: string, address: string): string {
  return `${instanceId} ${address}`;
}
