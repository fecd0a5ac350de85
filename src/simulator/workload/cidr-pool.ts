// A multi-pool agent's state of one family in memory: CIDRs that it allocates from, dropped ones that are still attached,
// and vanished ones with addresses in use. It never gives up an address in use.
import type { Random } from '../../runtime/random.ts';
import { addressesIn, AddressRange, type AnyCidr } from './address-range.ts';
import type { AttachedCidr } from './attached-cidrs.ts';
import { cidrsToDrop, cidrsToReclaim, type HeldCidr } from './cidr-balance.ts';

interface Held {
  readonly range: AddressRange;
  readonly source: AnyCidr;
  /** Detached, and held only because of addresses in use; nothing new is taken from it. */
  vanished: boolean;
}

export interface TakenAddress {
  readonly address: string;
  readonly cidr: string;
}

export interface Balance {
  readonly dropped: readonly string[];
  readonly reclaimed: readonly string[];
}

export class CidrPool {
  readonly #held = new Map<string, Held>();
  readonly #dropped = new Map<string, AnyCidr>();

  /** Applies what is attached now. Adds new CIDRs, unless they were dropped and have been attached since. */
  update(attached: ReadonlyMap<string, AttachedCidr>): void {
    for (const cidr of this.#dropped.keys()) {
      if (!attached.has(cidr)) this.#dropped.delete(cidr);
    }
    for (const [cidr, held] of this.#held) {
      held.vanished = !attached.has(cidr);
      if (held.vanished && held.range.used === 0) this.#held.delete(cidr);
    }
    for (const { text, range } of attached.values()) {
      if (!this.#held.has(text) && !this.#dropped.has(text)) this.#hold(text, range);
    }
  }

  /** Number of addresses taken. */
  get inUse(): number {
    let sum = 0;
    for (const { range } of this.#held.values()) sum += range.used;
    return sum;
  }

  /** Whether an address could be taken now. */
  get hasFree(): boolean {
    for (const held of this.#held.values()) if (freeIn(held) > 0) return true;
    return false;
  }

  /** All held CIDRs, including vanished ones, sorted as text. */
  get cidrs(): readonly string[] {
    return [...this.#held.keys()].toSorted();
  }

  /** Takes an address of the first CIDR with a free one. */
  takeAny(random: Random): TakenAddress | undefined {
    for (const [cidr, held] of this.#held) {
      const address = held.vanished ? undefined : held.range.takeAny(random);
      if (address !== undefined) return { address, cidr };
    }
    return undefined;
  }

  /** Takes exactly this address; undefined if no CIDR contains it or it is taken. */
  take(address: string): TakenAddress | undefined {
    for (const [cidr, held] of this.#held) {
      if (held.range.take(address)) return { address, cidr };
    }
    return undefined;
  }

  release({ address, cidr }: TakenAddress): void {
    this.#held.get(cidr)?.range.release(address);
  }

  /**
   * Reclaims dropped CIDRs while fewer than `freeNeeded` addresses are free, then drops the unneeded ones. A
   * reclaimed CIDR is usable at once, before the agent reports it.
   */
  balance(freeNeeded: number): Balance {
    const reclaimed = cidrsToReclaim(this.#droppedCidrs(), this.#heldCidrs(), freeNeeded);
    for (const cidr of reclaimed) {
      const range = this.#dropped.get(cidr);
      if (range !== undefined) this.#hold(cidr, range);
      this.#dropped.delete(cidr);
    }

    const dropped = cidrsToDrop(this.#heldCidrs(), freeNeeded);
    for (const cidr of dropped) {
      const held = this.#held.get(cidr);
      if (held !== undefined && !held.vanished) this.#dropped.set(cidr, held.source);
      this.#held.delete(cidr);
    }
    return { dropped, reclaimed };
  }

  #hold(cidr: string, source: AnyCidr): void {
    this.#held.set(cidr, { range: new AddressRange(source), source, vanished: false });
  }

  #heldCidrs(): readonly HeldCidr[] {
    return [...this.#held].map(([cidr, held]) => ({ cidr, used: held.range.used, free: freeIn(held) }));
  }

  #droppedCidrs(): readonly { readonly cidr: string; readonly size: number }[] {
    return [...this.#dropped].map(([cidr, range]) => ({ cidr, size: addressesIn(range) }));
  }
}

function freeIn(held: Held): number {
  return held.vanished ? 0 : held.range.free;
}
