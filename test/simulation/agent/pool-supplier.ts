// Gives the node blocks of pools for the counts that it asks for. A block that the agent takes from its list may go to another
// node at once. An administrator edits, deletes and creates pools.
import { type Family, parseAddress, widthOf } from '../../../src/blocks/set/cidr.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { isObject, type JsonObject, listAt, textsAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { type Ask, type Blocks, cidrOf, isInside, ownPath, type Supplier } from './supplier.ts';

/** Pods get addresses of the second only if they, or their network, name it. */
export const poolNames = ['default', 'extra'] as const;
export type PoolName = (typeof poolNames)[number];
/** Pods whose annotation names the pool `extra`, by who asks in their names. */
export const annotatedPods = {
  runtime: ['annotated-0', 'annotated-1', 'annotated-2'],
  users: ['asked-0', 'asked-1', 'asked-2'],
} as const;

const poolsPath = '/apis/cilium.io/v2alpha1/ciliumpodippools';
const counts = { ipv4: 'ipv4-addrs', ipv6: 'ipv6-addrs' } as const;

/** A pool as the administrator wants it; each edit raises the number. */
interface Wanted {
  readonly edit: number;
  readonly allowsEnds: boolean;
}

export interface PoolSupplierOptions {
  readonly blocks: Blocks;
  readonly random: Random;
  /** Free addresses of the pool `default` that the agent holds. */
  readonly preAllocation: number;
}

export class PoolSupplier implements Supplier {
  readonly #families: readonly Family[];
  readonly #random: Random;
  readonly #preAllocation: number;
  /** Bits of a block's addresses. */
  readonly #bits: number;
  #wanted: ReadonlyMap<PoolName, Wanted>;
  readonly #shown = new Map<PoolName, Wanted>();
  /** The last that a pool had, which it gets again. */
  #edits = 0;
  #haveEnds = false;
  /** The next block is one that the node did not have lately. */
  #next = 0;

  constructor({ blocks: { families }, random, preAllocation }: PoolSupplierOptions) {
    this.#families = families;
    this.#random = random;
    this.#preAllocation = preAllocation;
    this.#bits = random.pick([2, 3]);
    const first = { edit: 0, allowsEnds: false };
    this.#wanted = new Map(poolNames.slice(0, random.pick([1, 2])).map((pool) => [pool, first]));
  }

  async setUp(ask: Ask): Promise<void> {
    await this.#applyPools(ask);
    await ask('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default' },
    });
    for (const name of Object.values(annotatedPods).flat())
      await ask('POST', '/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, annotations: { 'ipam.cilium.io/ip-pool': 'extra' } },
        spec: { nodeName: 'one', containers: [{ name: 'main', image: 'none' }] },
      });
  }

  async step(object: JsonObject, ask: Ask): Promise<void> {
    await this.#applyPools(ask);
    const shown = new Map(poolNames.map((pool) => [pool, blocksIn(object, pool)] as const));
    const next = new Map([...shown].map(([pool, cidrs]) => [pool, this.#grown(pool, cidrs, object)]));
    const isSame = poolNames.every((pool) => next.get(pool)?.length === shown.get(pool)?.length);
    if (isSame) return;
    const allocated = [...next]
      .filter(([, cidrs]) => cidrs.length > 0)
      .map(([pool, cidrs]) => ({ pool, cidrs }));
    const resourceVersion = valueAt(object, 'metadata', 'resourceVersion') ?? '';
    await ask('PATCH', ownPath, { metadata: { resourceVersion }, spec: { ipam: { pools: { allocated } } } });
  }

  trouble(): void {
    const pool = this.#random.pick(['default', 'extra', 'extra'] as const);
    const isDeleted = this.#wanted.has(pool) && this.#random.chance(0.4);
    const wanted = new Map(this.#wanted);
    if (isDeleted) wanted.delete(pool);
    else wanted.set(pool, { edit: ++this.#edits, allowsEnds: this.#random.chance(0.5) });
    this.#wanted = wanted;
  }

  calm(): void {
    const known = { edit: this.#edits, allowsEnds: false };
    this.#wanted = new Map(poolNames.map((pool) => [pool, this.#wanted.get(pool) ?? known]));
  }

  supplies(address: string, object: JsonObject | undefined, pool?: string): boolean {
    return blocksIn(object, pool).some(
      (block) => isInside(block, address) && (this.#haveEnds || !isEnd(block, address)),
    );
  }

  problemsAtRest(object: JsonObject | undefined): readonly string[] {
    const needed = this.#families.map((family) => needIn(object, 'default', family));
    const extra = blocksIn(object, 'extra');
    return [
      ...(needed.every((count) => count === this.#preAllocation)
        ? []
        : [`${needed.join()} are needed when nothing is held, of ${this.#preAllocation}`]),
      ...(extra.length === 0 ? [] : [`${extra.join()} of the pool extra stay when nothing is held`]),
    ];
  }

  async #applyPools(ask: Ask): Promise<void> {
    for (const pool of poolNames) {
      const [shown, wanted] = [this.#shown.get(pool), this.#wanted.get(pool)];
      if (shown === wanted) continue;
      // What the agent sees of an edit comes later than the edit.
      this.#haveEnds ||= wanted?.allowsEnds === true;
      if (wanted === undefined) await ask('DELETE', `${poolsPath}/${pool}`);
      else if (shown === undefined) await ask('POST', poolsPath, this.#poolObject(pool, wanted));
      else await ask('PATCH', `${poolsPath}/${pool}`, this.#poolObject(pool, wanted));
      if (wanted === undefined) this.#shown.delete(pool);
      else this.#shown.set(pool, wanted);
    }
  }

  #poolObject(name: PoolName, { edit, allowsEnds }: Wanted): JsonObject {
    const networksOf = (family: Family): JsonObject => ({
      cidrs: [network(family, edit)],
      maskSize: widthOf[family] - this.#bits,
      allowFirstIP: allowsEnds,
      allowLastIP: allowsEnds,
    });
    const spec = Object.fromEntries(this.#families.map((family) => [family, networksOf(family)]));
    return { apiVersion: 'cilium.io/v2alpha1', kind: 'CiliumPodIPPool', metadata: { name }, spec };
  }

  #grown(pool: PoolName, cidrs: readonly string[], object: JsonObject): readonly string[] {
    const known = this.#shown.get(pool);
    if (known === undefined) return cidrs;
    const all = [...cidrs];
    for (const family of this.#families) {
      const has = cidrs.filter((cidr) => cidr.includes(':') === (family === 'ipv6')).length;
      const usable = 2 ** this.#bits - 2;
      for (let count = has; count * usable < needIn(object, pool, family); count++)
        all.push(this.#newBlock(family, known.edit, blocksIn(object)));
    }
    return all;
  }

  #newBlock(family: Family, edit: number, taken: readonly string[]): string {
    for (;;) {
      const index = this.#next++ % 250;
      const base =
        family === 'ipv4' ? `10.${7 + (edit % 200)}.${index}.0` : `fd07:0:${edit}:${index.toString(16)}::`;
      const block = `${base}/${widthOf[family] - this.#bits}`;
      if (!taken.includes(block)) return block;
    }
  }
}

function network(family: Family, edit: number): string {
  return family === 'ipv4' ? `10.${7 + (edit % 200)}.0.0/16` : `fd07:0:${edit}::/48`;
}

function isEnd(block: string, text: string): boolean {
  const [cidr, address] = [cidrOf(block), parseAddress(text)];
  if (cidr === undefined || address === undefined) return false;
  const offset = address.value - cidr.base;
  return offset === 0n || offset === (1n << BigInt(widthOf[cidr.family] - cidr.length)) - 1n;
}

function needIn(object: JsonObject | undefined, pool: PoolName, family: Family): number {
  const request = listAt(object, 'spec', 'ipam', 'pools', 'requested')
    .filter(isObject)
    .find((each) => each['pool'] === pool);
  return Number(valueAt(request, 'needed', counts[family]) ?? 0);
}

/** Default: blocks of all pools. */
function blocksIn(object: JsonObject | undefined, pool?: string): readonly string[] {
  return listAt(object, 'spec', 'ipam', 'pools', 'allocated')
    .filter(isObject)
    .filter((entry) => pool === undefined || entry['pool'] === pool)
    .flatMap((entry) => textsAt(entry, 'cidrs'));
}
