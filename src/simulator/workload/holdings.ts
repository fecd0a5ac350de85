// Addresses assigned by one agent process, and whether its CiliumNode still offers them. An offered address
// that disappears is a loss, reported once until it returns.
import type { ViolationKind } from './violation-log.ts';

export interface Holding {
  readonly owner: string;
  readonly interfaceId: string;
}

/** Where the CiliumNode shows a held address. */
export type Whereabouts =
  | { readonly kind: 'offered'; readonly interfaceId: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'interface-absent' };

export interface Loss<H extends Holding> {
  readonly address: string;
  readonly holding: H;
  readonly what: ViolationKind;
}

export interface Changes<H extends Holding> {
  readonly losses: readonly Loss<H>[];
  readonly returned: readonly string[];
}

interface Entry<H extends Holding> {
  readonly holding: H;
  /** The CiliumNode, by uid, that last showed the address. */
  seenIn: string;
  missing: boolean;
}

export class Holdings<H extends Holding> {
  readonly #entries = new Map<string, Entry<H>>();

  /** `uid`: the uid of the CiliumNode that offered the address. */
  hold(address: string, holding: H, uid: string): void {
    this.#entries.set(address, { holding, seenIn: uid, missing: false });
  }

  drop(address: string): H | undefined {
    const entry = this.#entries.get(address);
    this.#entries.delete(address);
    return entry?.holding;
  }

  has(address: string): boolean {
    return this.#entries.has(address);
  }

  get(address: string): H | undefined {
    return this.#entries.get(address)?.holding;
  }

  *[Symbol.iterator](): Iterator<readonly [string, H]> {
    for (const [address, { holding }] of this.#entries) yield [address, holding];
  }

  /** Owner by address of all that are missing now. */
  get missing(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const [address, entry] of this.#entries) if (entry.missing) found.set(address, entry.holding.owner);
    return found;
  }

  /**
   * Compares with the CiliumNode `uid`. An object cannot lose what it never offered: a recreated CiliumNode
   * starts empty.
   */
  compare(uid: string, find: (address: string, holding: H) => Whereabouts): Changes<H> {
    const losses: Loss<H>[] = [];
    const returned: string[] = [];
    for (const [address, entry] of this.#entries) {
      const found = find(address, entry.holding);
      const what = lossOf(found, entry.holding);
      if (what === undefined) {
        if (entry.missing) returned.push(address);
        entry.missing = false;
        entry.seenIn = uid;
      } else if (!entry.missing && entry.seenIn === uid) {
        entry.missing = true;
        losses.push({ address, holding: entry.holding, what });
      }
    }
    return { losses, returned };
  }
}

function lossOf(found: Whereabouts, holding: Holding): ViolationKind | undefined {
  if (found.kind === 'absent') return 'address-vanished';
  if (found.kind === 'interface-absent') return 'interface-vanished';
  return found.interfaceId === holding.interfaceId ? undefined : 'address-moved';
}
