// Plans blocks of nodes that do not exist yet, one node after the other, by the sets that blocks come from. Pure.
import * as z from 'zod';
import { emptyShelf, hasRoom, type Shelf } from '../../blocks/allocation/shelf.ts';
import { blockShape } from '../../blocks/set/block-set.ts';
import { type Cidr, cidrOf, cidrText, type Family, familyNames } from '../../blocks/set/cidr.ts';
import { steppedDemand } from '../../blocks/set/stepped-demand.ts';
import { usableAddresses } from '../../blocks/multi-pool/pool-definition.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { nearest } from '../../runtime/did-you-mean.ts';
import { answerIn } from '../status/served-report.ts';
import { counted } from '../status/words.ts';
import type { PlanQuestion } from './chosen-kinds.ts';
import type { PlanProblem } from './plan.ts';

export interface BlockPlan {
  readonly nodes: number;
  /** How many of them get all that they ask for. */
  readonly fit: number;
  /** Blocks of each node. */
  readonly each: readonly BlocksOfNode[];
  /** Blocks of all nodes. */
  readonly blocks: number;
  readonly pools: readonly PoolOfPlan[];
  readonly problems: readonly PlanProblem[];
}

export interface BlocksOfNode {
  readonly pool: string;
  readonly family: Family;
  readonly maskSize: number;
  readonly blocks: number;
  /** Addresses of these blocks that pods and the agent can have. */
  readonly addresses: number;
}

export interface PoolOfPlan {
  readonly pool: string;
  readonly cidr: string;
  readonly maskSize: number;
  readonly free: number;
  readonly taken: number;
  readonly left: number;
  /** After so many nodes, the next one finds no block in the pool; absent if it lasts. */
  readonly runsOutAfter?: number;
}

const text = z.string().transform((given) => sanitizedText(given, 200));
const count = z
  .int()
  .min(0)
  .max(2 ** 24);
const family = z.enum(['ipv4', 'ipv6']);
const pool = z.object({
  pool: text,
  family,
  cidr: text,
  maskSize: count,
  capacity: count,
  held: count,
  waiting: count,
});
const schema = z.object({
  pools: z.array(pool).max(10_000),
  planning: z.object({
    blocks: z.enum(['oneOfEachFamily', 'asAsked']),
    usable: z.array(z.object({ pool: text, family, addresses: z.int().min(1) })).exactOptional(),
  }),
});

export type BlockFacts = z.output<typeof schema>;
type PoolFacts = BlockFacts['pools'][number];

/** Undefined if the report is none of blocks, or contradicts itself. */
export function blockFactsIn(json: string): BlockFacts | undefined {
  const facts = answerIn(json, schema);
  return facts?.pools.every(isWhole) === true ? facts : undefined;
}

function isWhole({ cidr: shown, family: of, maskSize, capacity, held }: PoolFacts): boolean {
  const cidr = cidrOf(shown);
  if (cidr?.family !== of) return false;
  const shape = blockShape(cidr, maskSize);
  return shape.kind === 'shape' && shape.capacity === capacity && held <= capacity;
}

/** The blocks that each node asks for, of one pool and family. */
type Want = Omit<BlocksOfNode, 'pool'> & { readonly pool: string | undefined };

/** The first block that a node, counted from 0, did not get. */
type Missed = Pick<BlocksOfNode, 'pool' | 'family'> & { readonly node: number };

/** Resolves to what is wrong with the question. */
export function planBlocks(question: PlanQuestion, facts: BlockFacts): BlockPlan | string {
  const wants = wantsOf(question, facts);
  if (typeof wants === 'string') return wants;
  const shelves = facts.pools.map(shelfOf);
  const before = shelves.map(({ set }) => set.count);
  const outOf = new Map(shelves.filter(({ set }) => set.isFull).map((shelf) => [shelf, 0]));
  const small = tooSmall(question, wants, facts);
  let served = 0;
  const missed: Missed[] = [];
  for (let node = 0; node < question.add; node++) {
    const lacking = takeBlocks(shelves, wants, facts.planning.blocks === 'oneOfEachFamily');
    if (lacking === undefined) served++;
    else missed.push({ node, family: lacking.family, pool: lacking.pool ?? '' });
    for (const shelf of shelves) if (shelf.set.isFull && !outOf.has(shelf)) outOf.set(shelf, served);
  }
  return {
    nodes: question.add,
    fit: small.length > 0 ? 0 : served,
    each: wants.map((want) => ({ ...want, pool: want.pool ?? facts.pools[0]?.pool ?? '' })),
    blocks: shelves.reduce((sum, { set }, index) => sum + set.count - (before[index] ?? 0), 0),
    pools: shelves
      .map((shelf, index) => poolOfPlan(shelf, before[index] ?? 0, outOf.get(shelf)))
      .filter(({ pool: name, taken }) => taken > 0 || wants.some((want) => (want.pool ?? name) === name)),
    problems: [...shortages(missed, facts), ...small],
  };
}

function poolOfPlan({ pool: of, set }: Shelf, held: number, after: number | undefined): PoolOfPlan {
  const { pool: name, cidr, maskSize } = of;
  const [free, left] = [set.capacity - held, set.capacity - set.count];
  return {
    pool: name,
    cidr: cidrText(cidr),
    maskSize,
    free,
    taken: free - left,
    left,
    ...(after !== undefined && { runsOutAfter: after }),
  };
}

/** Blocks that are taken are as good as any others. */
function shelfOf({ pool: name, cidr, maskSize, held }: PoolFacts): Shelf {
  const shelf = emptyShelf({ pool: name, cidr: cidrOf(cidr) as Cidr, maskSize });
  for (let index = 0; index < held; index++) shelf.set.take(index);
  return shelf;
}

/** Returns what is missing. `isWhole`: a node gets all blocks or none. */
function takeBlocks(shelves: readonly Shelf[], wants: readonly Want[], isWhole: boolean): Want | undefined {
  const roomFor = ({ family: of, pool: only }: Want): Shelf | undefined =>
    shelves.find((shelf) => hasRoom(shelf, of, only === undefined ? {} : { pool: only }));
  const absent = wants.find((want) => want.blocks > 0 && roomFor(want) === undefined);
  if (absent !== undefined && isWhole) return absent;
  let lacking: Want | undefined;
  for (const want of wants)
    for (let block = 0; block < want.blocks; block++) {
      const shelf = roomFor(want);
      if (shelf === undefined) lacking ??= want;
      else shelf.set.allocate();
    }
  return lacking;
}

/** The pool that agents ask by default. */
const defaultPool = 'default';

function wantsOf(question: PlanQuestion, facts: BlockFacts): readonly Want[] | string {
  const { type, zones, subnet } = question;
  if (type !== undefined || zones.length > 0 || subnet !== undefined)
    return 'nodes of every type, zone and subnet get blocks alike: leave out --type, --zone and --subnet';
  if (facts.pools.length === 0) return 'no pool has blocks here: Headwater does not choose what a node gets';
  return facts.planning.blocks === 'asAsked' ? askedOf(question, facts) : oneOfEach(question, facts);
}

function oneOfEach({ pool: named }: PlanQuestion, facts: BlockFacts): readonly Want[] | string {
  if (named !== undefined)
    return 'each node gets a block of each family here, of any network: leave out --pool';
  return facts.pools
    .filter(({ family: of }, index, all) => all.findIndex((each) => each.family === of) === index)
    .map((first) => {
      const { family: of, maskSize } = first;
      return { pool: undefined, family: of, blocks: 1, addresses: usableOf(first, facts), maskSize };
    });
}

/** As many blocks as hold the addresses that an agent asks for while its pods run. */
function askedOf(question: PlanQuestion, facts: BlockFacts): readonly Want[] | string {
  const { pods, agentAddresses, preAllocate: held } = question;
  if (pods === undefined)
    return 'say by --pods how many pods each node has: they decide how many blocks it asks for';
  const names = [...new Set(facts.pools.map((each) => each.pool))];
  const name = question.pool ?? (names.length === 1 ? names[0] : defaultPool) ?? defaultPool;
  if (!names.includes(name)) {
    const meant = nearest(name, names);
    const which =
      meant === undefined ? `; there are ${names.slice(0, 8).join(', ')}` : `; did you mean ${meant}?`;
    return `there is no pool ${JSON.stringify(sanitizedText(name, 100))}: name one by --pool${which}`;
  }
  const isDefault = name === defaultPool;
  const inUse = isDefault ? agentAddresses : 0;
  const preAllocate = held ?? (isDefault ? 8 : 0);
  const asked = steppedDemand({ inUse, pending: pods, preAllocate });
  const own = facts.pools.filter((each) => each.pool === name);
  return [...new Map(own.map((each) => [each.family, each])).values()].map((each) => {
    const usable = usableOf(each, facts);
    const blocks = Math.ceil(asked / usable);
    const { family: of, maskSize } = each;
    return { pool: name, family: of, blocks, addresses: blocks * usable, maskSize };
  });
}

function usableOf({ pool: name, family: of, maskSize }: PoolFacts, { planning }: BlockFacts): number {
  const told = planning.usable?.find((each) => each.pool === name && each.family === of);
  return told?.addresses ?? usableAddresses({ family: of, length: maskSize });
}

function shortages(missed: readonly Missed[], { planning }: BlockFacts): readonly PlanProblem[] {
  return [...Map.groupBy(missed, ({ family: of }) => of)].map(([of, nodes]) => {
    const [first] = nodes;
    const isAsked = planning.blocks === 'asAsked';
    const where = isAsked ? ` in pool ${first?.pool ?? ''}` : '';
    return {
      reason: isAsked ? 'PoolExhausted' : 'PodCIDRsExhausted',
      why: `no ${familyNames[of]} block is left${where}: add a network${isAsked ? ' to the pool' : ''}, or delete the objects of machines that are gone`,
      firstNode: (first?.node ?? 0) + 1,
      nodes: nodes.length,
      pods: 0,
    };
  });
}

/** Where a node gets one block, however many pods it has. */
function tooSmall(
  { pods = 0, agentAddresses, add }: PlanQuestion,
  wants: readonly Want[],
  { planning }: BlockFacts,
): readonly PlanProblem[] {
  if (planning.blocks === 'asAsked') return [];
  const small = wants.filter(({ addresses }) => addresses < pods + agentAddresses && pods > 0);
  return small.map(({ addresses, maskSize }) => ({
    reason: 'InstanceFull',
    why: `a block of /${maskSize} holds ${counted(addresses, 'address', 'es')}, for ${counted(pods, 'pod')} and ${agentAddresses} of the agent: place fewer pods on a node, or give nodes bigger blocks`,
    firstNode: 1,
    nodes: add,
    pods: add * Math.min(pods, pods + agentAddresses - addresses),
  }));
}

/** Nodes that wait already come first. */
export function waitingIn({ pools }: BlockFacts): number {
  return Math.max(0, ...pools.map(({ waiting }) => waiting));
}
