// Where the addresses of this node come from with pools: it asks for counts in spec.ipam.pools.requested, and says in `allocated`
// which blocks it holds. A block that it stops holding gives nothing from before the write on until the object shows, in another
// state, that it is held after all: the operator may give it to another node meanwhile.
import { type Cidr, cidrOf, cidrText, families, type Family, parseAddress } from '../../blocks/set/cidr.ts';
import { isObject, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { blocksToHold } from '../allocators/block-balance.ts';
import { MultiPoolAllocator, type OfferedBlock } from '../allocators/multi-pool-allocator.ts';
import type { Holdings, RememberedBlock, RememberedPool } from '../ipam/holdings.ts';
import type { PoolCatalog } from '../metadata/pool-catalog.ts';
import { runTogether } from './address-source.ts';
import { type Needed, poolsPatch } from './shown-pools.ts';
import { type NodePatches, WritingSource, type WritingSourceOptions } from './writing-source.ts';

/** A block that the object shows. */
export interface ShownBlock extends BlockOfPool {
  /** Whether `allocated` has it. */
  readonly isListed: boolean;
}

/** The blocks of this node, how they are read and remembered. */
export interface BlockReading {
  /** Which pools there are, if anything but the object says it: nothing counts before that is known. */
  readonly catalog?: Pick<PoolCatalog, 'missing' | 'run' | 'synced'>;
  readonly read: (raw: JsonObject) => readonly ShownBlock[];
  /** Addresses to hold of the default pool, if the object says it. */
  readonly preAllocationIn?: (raw: JsonObject) => number;
  /** Whether a restart without an API server serves the blocks. */
  readonly remembers: boolean;
  /** The families of a pool that this node may ask for. */
  readonly familiesOf: (pool: string) => readonly Family[];
}

/** The time between two reads of the demand, in ms: it falls without an event. */
const refreshInterval = 60_000;

export class PooledBlocks extends WritingSource {
  readonly #reading: BlockReading;
  readonly #allocators = new Map<string, { readonly pool: string; readonly allocator: MultiPoolAllocator }>();
  /** Blocks that `allocated` shows, by pool and text. */
  #listed: ReadonlySet<string> = new Set();

  constructor(options: WritingSourceOptions, reading: BlockReading) {
    super(options, 'blocks in spec.ipam.pools');
    this.#reading = reading;
  }

  /** Serves what is known without Kubernetes. */
  start(): void {
    const known = blocksIn(this.options.ipam.holdings.pools);
    this.#give(known.map((block) => ({ ...block, isUsable: true })));
  }

  override get missing(): string {
    return this.#reading.catalog?.missing ?? super.missing;
  }

  /** Which pool has an address is known by then. */
  override get synced(): Promise<void> {
    return Promise.all([super.synced, this.#reading.catalog?.synced]).then(() => undefined);
  }

  override async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options.surroundings;
    let cancel = (): void => undefined;
    const look = (): void => {
      this.update();
      cancel = clock.schedule(refreshInterval, look);
    };
    look();
    try {
      const { catalog } = this.#reading;
      await runTogether([(own) => super.run(own), async (own) => catalog?.run(own)], signal);
    } finally {
      cancel();
    }
  }

  protected take(): void {
    this.refresh();
  }

  /** Takes in what the object shows, or what is known of pools by now. */
  refresh(): void {
    const raw = this.ownNode.object;
    const { ipam, demand } = this.options;
    const { catalog, preAllocationIn } = this.#reading;
    if (raw === undefined || catalog?.missing !== undefined) return;
    const preAllocation = preAllocationIn?.(raw) ?? 0;
    if (preAllocation > 0) demand.hold(ipam.pools.defaultPool, preAllocation);
    this.#offer(raw);
    ipam.retry();
    this.update();
  }

  #offer(raw: JsonObject): void {
    const shown = this.#reading.read(raw);
    const { version, blocks } = this.options.ipam.holdings.leaving;
    const leaving = new Set(version === versionOf(raw) ? blocks : []);
    this.#listed = new Set(shown.filter(({ isListed }) => isListed).map(blockKey));
    const offered = shown.map((block) => ({
      ...block,
      isUsable: block.isListed && !leaving.has(blockKey(block)),
    }));
    this.#give(offered);
    this.#remember(offered.filter(({ isUsable }) => isUsable));
  }

  #give(offered: readonly (BlockOfPool & { readonly isUsable: boolean })[]): void {
    const byAllocator = Object.groupBy(offered, ({ pool, cidr }) => allocatorKey(pool, cidr.family));
    for (const [key, ofFamily = []] of Object.entries(byAllocator)) {
      const [first] = ofFamily;
      if (first !== undefined && !this.#allocators.has(key)) this.#serve(first.pool, first.cidr.family);
    }
    for (const [key, { allocator }] of this.#allocators) allocator.take(byAllocator[key] ?? []);
  }

  /** A record that cannot be written costs a restart without an API server, and nothing else. */
  #remember(usable: readonly BlockOfPool[]): void {
    const { ipam, surroundings } = this.options;
    const { familiesOf, remembers } = this.#reading;
    const pools = remembered(
      usable.map((block) => this.#withEnds(block)),
      familiesOf,
    );
    if (!remembers || JSON.stringify(pools) === JSON.stringify(ipam.holdings.pools)) return;
    const problem = ipam.remember({ pools });
    if (problem !== undefined) surroundings.log.warn('cannot remember the blocks of this node', { problem });
  }

  /** As pods have the block, whatever is shown of it meanwhile. */
  #withEnds(block: BlockOfPool): BlockOfPool {
    const { allocator } = this.#allocators.get(allocatorKey(block.pool, block.cidr.family)) ?? {};
    const known = allocator?.blocks.find(({ cidr }) => cidr === cidrText(block.cidr));
    return known === undefined
      ? block
      : { ...block, allowsFirst: known.allowsFirst, allowsLast: known.allowsLast };
  }

  #serve(pool: string, family: Family): void {
    const { ipam, surroundings } = this.options;
    const key = allocatorKey(pool, family);
    const allocator = new MultiPoolAllocator(family, surroundings.random.fork(key), () =>
      heldOf(ipam.holdings, family),
    );
    this.#allocators.set(key, { pool, allocator });
    ipam.serve(allocator, pool);
  }

  protected patches(raw: JsonObject): NodePatches {
    const { ipam } = this.options;
    if (ipam.holdings.isRebuilding || this.#reading.catalog?.missing !== undefined) return {};
    const spec = poolsPatch(raw, this.#needed(), this.#held());
    const used = valueAt(raw, 'status', 'ipam', 'used');
    // An agent of the other protocol left it, and controllers tell the protocols apart by it.
    const isLeft = isObject(used) && Object.keys(used).length > 0;
    return { spec, status: isLeft ? { ipam: { used: null } } : undefined };
  }

  #needed(): ReadonlyMap<string, Needed> {
    const { demand } = this.options;
    const { familiesOf } = this.#reading;
    return new Map(
      demand.pools().map((pool) => {
        const known = familiesOf(pool);
        const of = (family: Family): number => (known.includes(family) ? demand.needed(pool, family) : 0);
        return [pool, { ipv4: of('ipv4'), ipv6: of('ipv6') }];
      }),
    );
  }

  /** The blocks that this node is to hold, by pool. */
  #held(): ReadonlyMap<string, readonly Cidr[]> {
    const { demand } = this.options;
    const held = new Map<string, Cidr[]>();
    for (const { pool, allocator } of this.#allocators.values()) {
      const { family, blocks } = allocator;
      const offered = blocks.map((block) => ({
        ...block,
        isListed: this.#listed.has(`${pool} ${block.cidr}`),
      }));
      const wantedFree = demand.needed(pool, family) - demand.inUse(pool, family);
      const texts = blocksToHold(offered, wantedFree);
      held.set(pool, [...(held.get(pool) ?? []), ...texts.flatMap((text) => cidrOf(text) ?? [])]);
    }
    return held;
  }

  /** Blocks that the write to come gives up serve nothing from here on, and after a restart. */
  protected beforeSpec(raw: JsonObject): string | undefined {
    const { ipam } = this.options;
    const held = new Set(
      [...this.#held()].flatMap(([pool, cidrs]) => cidrs.map((cidr) => blockKey({ pool, cidr }))),
    );
    const given = [...this.#listed].filter((key) => !held.has(key));
    if (given.length === 0) return undefined;
    const [version, earlier] = [versionOf(raw), ipam.holdings.leaving];
    // A write that was computed from the same state, even by an agent that has ended, may yet arrive.
    const blocks = version === earlier.version ? [...new Set([...earlier.blocks, ...given])] : given;
    const leaving = { version, blocks };
    const change = { leaving, pools: withoutBlocks(ipam.holdings.pools, blocks) };
    const problem = ipam.remember(change);
    if (problem !== undefined) return problem;
    this.#offer(raw);
    return undefined;
  }
}

/** Held addresses of a family, of all pools. */
function heldOf(holdings: Holdings, family: Family): readonly bigint[] {
  const addresses = Array.from(holdings.held(), ({ ip }) => parseAddress(ip));
  return addresses.flatMap((address) => (address?.family === family ? [address.value] : []));
}

function versionOf(raw: JsonObject): string {
  return textAt(raw, 'metadata', 'resourceVersion') ?? '';
}

function allocatorKey(pool: string, family: Family): string {
  return `${pool}/${families.indexOf(family)}`;
}

/**
 * A block and its pool, as the record has it too: a restart without an API server serves it. A block that this node gives up
 * leaves the record with the entry that says so.
 */
interface BlockOfPool extends Omit<OfferedBlock, 'isUsable'> {
  readonly pool: string;
}

/** Names a block in the record. */
function blockKey({ pool, cidr }: Pick<BlockOfPool, 'pool' | 'cidr'>): string {
  return keyOf(pool, cidrText(cidr));
}

/** The memory of these blocks, which pods may get addresses of. */
function remembered(
  blocks: readonly BlockOfPool[],
  familiesOf: (pool: string) => readonly Family[],
): readonly RememberedPool[] {
  const byPool = Object.entries(Object.groupBy(blocks, ({ pool }) => pool));
  return byPool.map(([pool, ofPool = []]) => ({
    pool,
    families: familiesOf(pool),
    blocks: ofPool.map(({ cidr, allowsFirst, allowsLast, details }) => ({
      cidr: cidrText(cidr),
      allowsFirst,
      allowsLast,
      details,
    })),
  }));
}

/** The pools without the blocks of these names. */
function withoutBlocks(pools: readonly RememberedPool[], keys: readonly string[]): readonly RememberedPool[] {
  const stays = (pool: string, { cidr }: RememberedBlock): boolean => !keys.includes(keyOf(pool, cidr));
  return pools
    .map((each) => ({ ...each, blocks: each.blocks.filter((block) => stays(each.pool, block)) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** The blocks that the record has. */
function blocksIn(pools: readonly RememberedPool[]): readonly BlockOfPool[] {
  return pools.flatMap(({ pool, blocks }) =>
    blocks.flatMap(({ cidr: text, ...rest }) => {
      const cidr = cidrOf(text);
      return cidr === undefined ? [] : [{ pool, cidr, ...rest }];
    }),
  );
}

function keyOf(pool: string, cidr: string): string {
  return `${pool} ${cidr}`;
}
