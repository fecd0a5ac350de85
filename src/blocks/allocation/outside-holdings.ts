// Holdings in no network of any pool, found by the addresses that it shares with a CIDR: a fleet may have a holding for each
// of its nodes, nearly all of one prefix length.
import { type Cidr, type Family, overlaps, widthOf } from '../set/cidr.ts';

/** Holdings of one family and prefix length, by base. */
interface SameLength<H> {
  readonly family: Family;
  readonly length: number;
  readonly byBase: Map<bigint, Set<H>>;
}

export class OutsideHoldings<H extends { readonly cidr: Cidr }> {
  readonly #lengths = new Map<string, SameLength<H>>();

  add(holding: H): void {
    const { family, length, base } = holding.cidr;
    const key = `${family} ${length}`;
    const same = this.#lengths.get(key) ?? { family, length, byBase: new Map<bigint, Set<H>>() };
    this.#lengths.set(key, same);
    const near = same.byBase.get(base) ?? new Set();
    same.byBase.set(base, near.add(holding));
  }

  delete(holding: H): void {
    const { family, length, base } = holding.cidr;
    const same = this.#lengths.get(`${family} ${length}`);
    const near = same?.byBase.get(base);
    if (same === undefined || near?.delete(holding) !== true || near.size > 0) return;
    same.byBase.delete(base);
    if (same.byBase.size === 0) this.#lengths.delete(`${family} ${length}`);
  }

  clear(): void {
    this.#lengths.clear();
  }

  *[Symbol.iterator](): Generator<H> {
    for (const { byBase } of this.#lengths.values()) for (const near of byBase.values()) yield* near;
  }

  /** Those that share any address with `cidr`: each that holds all of it is found by its base, those within it by a search. */
  *sharing(cidr: Cidr): Generator<H> {
    for (const same of this.#lengths.values())
      if (same.family === cidr.family)
        yield* same.length > cidr.length ? within(same, cidr) : around(same, cidr);
  }
}

function* within<H extends { readonly cidr: Cidr }>({ byBase }: SameLength<H>, cidr: Cidr): Generator<H> {
  for (const near of byBase.values()) for (const each of near) if (overlaps(each.cidr, cidr)) yield each;
}

function around<H>({ family, length, byBase }: SameLength<H>, { base }: Cidr): Iterable<H> {
  const hostBits = BigInt(widthOf[family] - length);
  return byBase.get((base >> hostBits) << hostBits) ?? [];
}
