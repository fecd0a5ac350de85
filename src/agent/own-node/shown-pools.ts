// Which blocks an object shows this node, and in spec.ipam.pools of its CiliumNode, what this node asks for and says it holds.
// Anyone who may write the object may write anything into it. Pure.
import { type Cidr, cidrText, families, type Family, overlaps, parseCidr } from '../../blocks/set/cidr.ts';
import { blockProblem } from '../agent-settings.ts';
import { isObject, type Json, type JsonObject, listAt, textAt, valueAt } from '../../runtime/json.ts';
import { isEqual } from '../../kubernetes/transport/merge-patch.ts';

export interface ListedBlock {
  readonly pool: string;
  readonly cidr: Cidr;
  readonly allowsFirst: boolean;
  readonly allowsLast: boolean;
}

export interface ListedBlocks {
  readonly blocks: readonly ListedBlock[];
  /** A line for each text that cannot be a block. */
  readonly problems: readonly string[];
}

/** A block of each family. */
export interface ChosenBlocks {
  readonly blocks: Readonly<Partial<Record<Family, Cidr>>>;
  /** A line for each text that cannot be a block. */
  readonly problems: readonly string[];
}

/** The first usable block of each family, as Cilium agents choose. A range that is set replaces what is shown. */
export function chooseBlocks(shown: readonly string[], ranges: readonly Cidr[]): ChosenBlocks {
  const read = shown.map((text) => readBlock(text, 'node'));
  const usable = [...ranges, ...read.filter((each) => typeof each !== 'string')];
  const blocks = Object.fromEntries(
    families.flatMap((family) => {
      const block = usable.find((cidr) => cidr.family === family);
      return block === undefined ? [] : [[family, block]];
    }),
  );
  return { blocks, problems: read.filter((each) => typeof each === 'string') };
}

/** The blocks in `allocated`. If blocks overlap, only the first counts. */
export function listedBlocks(raw: JsonObject): ListedBlocks {
  const blocks: ListedBlock[] = [];
  const problems: string[] = [];
  for (const entry of entriesOf(raw, 'allocated')) {
    const ends = {
      allowsFirst: valueAt(entry, 'allowFirstIP') === true,
      allowsLast: valueAt(entry, 'allowLastIP') === true,
    };
    const pool = textAt(entry, 'pool') ?? '';
    for (const text of cidrsOf(entry)) {
      const read = readBlock(text, 'pool', blocks);
      if (typeof read === 'string') problems.push(read);
      else blocks.push({ pool, cidr: read, ...ends });
    }
  }
  return { blocks, problems };
}

/** The block, or why there is none. That of a pool may be a single address. */
function readBlock(text: string, of: 'node' | 'pool', others: readonly ListedBlock[] = []): Cidr | string {
  const reading = parseCidr(text);
  const refusal = (why: string): string => `${text.slice(0, 80)} is no block of a ${of} because ${why}`;
  if (reading.kind === 'invalid') return refusal(reading.why);
  const why = blockProblem(reading.cidr, of === 'pool' ? 0 : undefined);
  if (why !== undefined) return refusal(why);
  const other = others.find(({ cidr }) => overlaps(cidr, reading.cidr));
  return other === undefined ? reading.cidr : refusal(`it overlaps ${cidrText(other.cidr)}`);
}

export type Needed = Readonly<Record<Family, number>>;

/** The patch that lets the object say this; undefined where it does. `held` without any block leaves what is listed. */
export function poolsPatch(
  raw: JsonObject,
  needed: ReadonlyMap<string, Needed>,
  held: ReadonlyMap<string, readonly Cidr[]>,
): JsonObject | undefined {
  const requested = requestedOf(needed);
  const allocated = allocatedOf(raw, held);
  const patch = {
    ...(!isEqual(entriesOf(raw, 'requested'), requested) && { requested }),
    ...(held.size > 0 && !saysSame(raw, held) && { allocated }),
  };
  return Object.keys(patch).length === 0 ? undefined : { ipam: { pools: patch } };
}

function requestedOf(needed: ReadonlyMap<string, Needed>): readonly JsonObject[] {
  return [...needed]
    .filter(([, { ipv4, ipv6 }]) => ipv4 + ipv6 > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([pool, { ipv4, ipv6 }]) => ({
      pool,
      needed: { ...(ipv4 > 0 && { 'ipv4-addrs': ipv4 }), ...(ipv6 > 0 && { 'ipv6-addrs': ipv6 }) },
    }));
}

/** Members beside the blocks stay as they are. */
function allocatedOf(raw: JsonObject, held: ReadonlyMap<string, readonly Cidr[]>): readonly JsonObject[] {
  const shown = entriesOf(raw, 'allocated').filter((entry) => isObject(entry));
  return [...held]
    .filter(([, cidrs]) => cidrs.length > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([pool, cidrs]) => ({
      ...shown.find((entry) => entry['pool'] === pool),
      pool,
      cidrs: sorted(cidrs).map(cidrText),
    }));
}

/** In whatever order. */
function saysSame(raw: JsonObject, held: ReadonlyMap<string, readonly Cidr[]>): boolean {
  const shown = entriesOf(raw, 'allocated').flatMap((entry) =>
    cidrsOf(entry).map((text) => `${textAt(entry, 'pool') ?? ''} ${text}`),
  );
  const wanted = [...held].flatMap(([pool, cidrs]) => cidrs.map((cidr) => `${pool} ${cidrText(cidr)}`));
  return isEqual(shown.toSorted(), wanted.toSorted());
}

function sorted(cidrs: readonly Cidr[]): readonly Cidr[] {
  return families.flatMap((family) =>
    cidrs.filter((cidr) => cidr.family === family).toSorted((a, b) => (a.base < b.base ? -1 : 1)),
  );
}

function entriesOf(raw: JsonObject, name: 'requested' | 'allocated'): readonly Json[] {
  return listAt(raw, 'spec', 'ipam', 'pools', name);
}

function cidrsOf(entry: Json): readonly string[] {
  return listAt(entry, 'cidrs').filter((item) => typeof item === 'string');
}
