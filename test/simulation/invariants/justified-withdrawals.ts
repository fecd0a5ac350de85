// Addresses that controllers rightly withdrew from a node whose agent learns of it late.
//
// If the instance had lost the address and its interface is attached again by then, the instance has the address as if
// it had never lost it. If no pod had the address, one can take it before the agent learns; the agent then keeps it,
// unless it restarts before the address is shown again.
import type { ViolationKind } from '../../../src/simulator/workload/violation-log.ts';

/** Longer than any watch delay in a scenario, in ms: the agent knows by then. */
const watchDelay = 180_000;
/** By when a controller shows an address again that a pod took late, in ms: longer than any time without a leader. */
const shownAgainWithin = 600_000;

export class JustifiedWithdrawals {
  readonly #now: () => number;
  /** By instance and address: until when its agent may report it as missing; Infinity until it is shown again. */
  readonly #until = new Map<string, number>();
  /** The same for addresses that no pod had, if the agent restarts. */
  readonly #freeUntil = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A controller withdrew the address. `was`: lost to an external change, free, or in use. */
  withdrawn(instanceId: string, address: string, was: AddressState): void {
    const key = keyOf(instanceId, address);
    if (was === 'lost') this.#until.set(key, Infinity);
    else this.#until.delete(key);
    if (was === 'free') this.#freeUntil.set(key, this.#now() + shownAgainWithin);
    else this.#freeUntil.delete(key);
  }

  /** A controller shows the address again. */
  shown(instanceId: string, address: string): void {
    const key = keyOf(instanceId, address);
    if (this.#until.get(key) === Infinity) this.#until.set(key, this.#now() + watchDelay);
  }

  /** Whether a justified withdrawal explains the finding of an agent. */
  accountsFor(instanceId: string, address: string, finding: string): boolean {
    const key = keyOf(instanceId, address);
    const now = this.#now();
    if (now <= (this.#until.get(key) ?? -Infinity)) return absenceKinds.has(finding);
    return now <= (this.#freeUntil.get(key) ?? -Infinity) && finding === lostByRestart;
  }
}

/** The state of an address when a controller withdrew it. */
export type AddressState = 'lost' | 'free' | 'in use';

const lostByRestart = 'lost-across-restart' satisfies ViolationKind;

/** Findings about an address that is not shown. A withdrawal explains no others. */
const absenceKinds: ReadonlySet<string> = new Set([
  'address-vanished',
  'interface-vanished',
  lostByRestart,
] satisfies ViolationKind[]);

function keyOf(instanceId: string, address: string): string {
  return `${instanceId} ${address}`;
}
