// A machine whose pods take their addresses from blocks of pools. As a real agent does, it asks each pool for what its pods need
// and some more, lists the blocks that it has, gives back those that it needs no longer, and keeps one with pods whatever its
// object shows.
import { sleep } from '../../runtime/clock.ts';
import { BlockMachine } from './block-machine.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt, textsAt } from './json.ts';
import { ciliumNodesPath } from './own-node.ts';

/** A block, and the pool that it came from. */
export interface PoolBlock {
  readonly pool: string;
  readonly cidr: string;
}

/** Addresses beyond those of pods that it keeps ready. */
const spare = 4;
/** Between two looks at its own object, in ms. */
const pause = 1000;

export class PoolMachine extends BlockMachine {
  /** Pods of each pool; every pod has an address of each family that the pool gave. Changed from outside. */
  pods: ReadonlyMap<string, number> = new Map();
  #held: readonly PoolBlock[] = [];
  /** Blocks that it gave back, until its object no longer lists them. */
  #returned: ReadonlySet<string> = new Set();

  get held(): readonly PoolBlock[] {
    return this.#held;
  }

  /** Addresses that it asks a pool for. */
  asked(pool: string): number {
    const pods = this.pods.get(pool) ?? 0;
    return pods === 0 ? 0 : pods + spare;
  }

  override continueAs(before: BlockMachine): void {
    super.continueAs(before);
    if (!(before instanceof PoolMachine)) return;
    this.pods = before.pods;
    this.#held = before.held;
  }

  protected override async serve(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    for (;;) {
      const own = await this.read(ciliumNodesPath, signal);
      this.#adopt(own);
      await this.#report(own, signal);
      await sleep(clock, pause, signal);
    }
  }

  #adopt(own: JsonObject): void {
    const listed = listedIn(own);
    const isListed = (cidr: string): boolean => listed.some((each) => each.cidr === cidr);
    this.#returned = new Set([...this.#returned].filter(isListed));
    const isKnown = (cidr: string): boolean =>
      this.#returned.has(cidr) || this.#held.some((each) => each.cidr === cidr);
    this.#held = [...this.#held, ...listed.filter(({ cidr }) => !isKnown(cidr))];
    this.inUse = this.#held.map(({ cidr }) => cidr);
  }

  /** Gives back, from the last one, blocks that the rest makes up for. */
  #settle(): void {
    const kept: PoolBlock[] = [];
    const free = new Map<string, number>();
    for (const block of this.#held) {
      const key = `${block.pool} ${block.cidr.includes(':')}`;
      const usable = free.get(key) ?? 0;
      if (usable < this.asked(block.pool)) kept.push(block);
      free.set(key, usable + usableOf(block.cidr));
    }
    // An agent never lists nothing.
    if (kept.length === 0) kept.push(...this.#held.slice(0, 1));
    const gone = this.#held.filter((block) => !kept.includes(block));
    this.#returned = new Set([...this.#returned, ...gone.map(({ cidr }) => cidr)]);
    this.#held = kept;
    this.inUse = kept.map(({ cidr }) => cidr);
  }

  /** After a conflict it looks again. */
  async #report(own: JsonObject, signal: AbortSignal): Promise<void> {
    this.#settle();
    const { client, name } = this.options;
    const requested = [...this.pods.keys()].flatMap((pool) => {
      const needed = this.asked(pool);
      return needed === 0 ? [] : [{ pool, needed: { 'ipv4-addrs': needed, 'ipv6-addrs': needed } }];
    });
    const allocated = entriesOf(this.#held);
    const pools = { requested, ...(allocated.length > 0 && { allocated }) };
    const spec = objectAt(own, 'spec');
    const ipam = objectAt(spec, 'ipam');
    const isSame =
      JSON.stringify([pools.requested, entriesOf(listedIn(own))]) ===
      JSON.stringify([listAt(ipam, 'pools', 'requested'), allocated]);
    if (isSame) return;
    await client.replace(
      `${ciliumNodesPath}/${name}`,
      { ...own, spec: { ...spec, ipam: { ...ipam, pools } } },
      signal,
    );
  }
}

export function listedIn(object: JsonObject): readonly PoolBlock[] {
  return listAt(object, 'spec', 'ipam', 'pools', 'allocated')
    .filter(isObject)
    .flatMap((entry) => textsAt(entry, 'cidrs').map((cidr) => ({ pool: textAt(entry, 'pool'), cidr })));
}

/** As agents write them: sorted by pool. */
function entriesOf(
  blocks: readonly PoolBlock[],
): readonly { readonly pool: string; readonly cidrs: readonly string[] }[] {
  const pools = [...new Set(blocks.map(({ pool }) => pool))].toSorted();
  return pools.map((pool) => ({
    pool,
    cidrs: blocks
      .filter((each) => each.pool === pool)
      .map(({ cidr }) => cidr)
      .toSorted(),
  }));
}

/** Addresses of a block without the first and the last one. */
export function usableOf(cidr: string): number {
  const [, length = '0'] = cidr.split('/');
  const size = 2 ** ((cidr.includes(':') ? 128 : 32) - Number(length));
  return size <= 2 ? size : size - 2;
}
