// Which nodes there are, by state, the worst first, and what is said of each. Pure.
import type { ShownReport } from '../src/commands/status/served-report.ts';
import { nameInWords } from '../src/commands/status/words.ts';

export interface Tile {
  readonly node: string;
  /** Its name and state in words, with the reason and what to do where there is one. */
  readonly words: string;
  readonly style: 'good' | 'bad' | 'doubtful';
}

export interface StateTiles {
  /** In words. */
  readonly state: string;
  readonly tiles: readonly Tile[];
}

const worstFirst: readonly string[] = ['blocked', 'waiting', 'in_deficit', 'unknown'];
const inOrder = new Intl.Collator('en', { numeric: true }).compare;
/** The states in which nothing is wrong. */
const well: readonly string[] = ['satisfied', 'served', 'leftAlone'];

/** Empty unless the report names the nodes. */
export function tilesOf(report: ShownReport): readonly StateTiles[] {
  const told = toldOfNodes(report);
  const ranks = [...worstFirst, ...well];
  const rankOf = (state: string): number => ranks.indexOf(state);
  return Object.entries(report.nodeNames ?? {})
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b))
    .flatMap(([state, names]) => {
      const tiles = names.toSorted(inOrder).map((node) => tileOf(node, state, told.get(node)));
      if (!well.includes(state)) return [{ state: nameInWords(state), tiles }];
      const { good = [], doubtful = [] } = Object.groupBy(tiles, ({ style }) => style);
      return [
        { state: `${nameInWords(state)}, with a warning`, tiles: doubtful },
        { state: nameInWords(state), tiles: good },
      ];
    })
    .filter(({ tiles }) => tiles.length > 0);
}

function tileOf(node: string, state: string, told: string | undefined): Tile {
  const words = `${node}: ${nameInWords(state)}`;
  return {
    node,
    words: told === undefined ? words : `${words}: ${told}`,
    style: styleOf(well.includes(state), told !== undefined || state === 'blocked'),
  };
}

/** A node without addresses and without a reason is being served. */
function styleOf(isWell: boolean, hasReason: boolean): Tile['style'] {
  if (isWell) return hasReason ? 'doubtful' : 'good';
  return hasReason ? 'bad' : 'doubtful';
}

/** The first list says what is worst. */
function toldOfNodes({
  inDeficit = [],
  waiting = [],
  warnings = [],
}: ShownReport): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  for (const { name = '', node = name, reason, why } of [...inDeficit, ...waiting, ...warnings]) {
    if (reason === undefined || told.has(node)) continue;
    told.set(node, why === undefined ? reason : `${reason}: ${why}`);
  }
  return told;
}

/** How many matches are listed. */
const most = 10;

export interface Found {
  readonly shown: readonly string[];
  /** Matches that are not shown. */
  readonly more: number;
  /** The node that is meant: it has the whole name, or it is the only match. */
  readonly only: string | undefined;
}

/** Nodes whose name has the text in it, in their order; those that begin with it stand first. No text finds none. */
export function find(text: string, names: readonly string[]): Found {
  const part = text.trim().toLowerCase();
  const matches = part === '' ? [] : names.filter((name) => name.includes(part));
  const isFirst = (name: string): number => (name.startsWith(part) ? 0 : 1);
  const shown = matches.toSorted((a, b) => isFirst(a) - isFirst(b)).slice(0, most);
  const only = matches.includes(part) ? part : matches.length === 1 ? matches[0] : undefined;
  return { shown, more: matches.length - shown.length, only };
}
