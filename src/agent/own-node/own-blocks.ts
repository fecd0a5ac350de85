// Which blocks of those that an object shows this node uses. Anyone who may write the object may write anything into it. Pure.
import { type Cidr, families, type Family, parseCidr } from '../../blocks/set/cidr.ts';
import { blockProblem } from '../agent-settings.ts';

export interface ShownBlocks {
  readonly blocks: Readonly<Partial<Record<Family, Cidr>>>;
  /** A line for each text that cannot be a block. */
  readonly problems: readonly string[];
}

/** The first usable block of each family, as Cilium agents choose. A range that is set replaces what is shown. */
export function chooseBlocks(shown: readonly string[], ranges: readonly Cidr[]): ShownBlocks {
  const read = shown.map(readBlock);
  const problems = read.flatMap((each) => (each.kind === 'refused' ? [each.problem] : []));
  const usable = [...ranges, ...read.flatMap((each) => (each.kind === 'block' ? [each.cidr] : []))];
  const blocks = Object.fromEntries(
    families.flatMap((family) => {
      const block = usable.find((cidr) => cidr.family === family);
      return block === undefined ? [] : [[family, block]];
    }),
  );
  return { blocks, problems };
}

type ReadBlock =
  | { readonly kind: 'block'; readonly cidr: Cidr }
  | { readonly kind: 'refused'; readonly problem: string };

function readBlock(text: string): ReadBlock {
  const reading = parseCidr(text);
  const why = reading.kind === 'cidr' ? blockProblem(reading.cidr) : reading.why;
  return reading.kind === 'cidr' && why === undefined
    ? { kind: 'block', cidr: reading.cidr }
    : { kind: 'refused', problem: `${text.slice(0, 80)} is no block of a node because ${why}` };
}
