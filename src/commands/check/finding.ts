// A row of the command check, and how rows are summed up and printed. Pure.
import { type Line, type Part, told } from '../status/text-table.ts';
import { counted } from '../status/words.ts';

/** `warning`: it works, and may not be meant. `unknown`: nothing shows whether it is well. */
export const verdicts = ['problem', 'unknown', 'warning', 'ok'] as const;

export type Verdict = (typeof verdicts)[number];

export interface Finding {
  /** The thing that was looked at. */
  readonly what: string;
  readonly found: string;
  readonly verdict: Verdict;
  readonly remedy?: string;
}

type Row = (found: string, remedy?: string) => Finding;

/** Makes the rows about one thing. */
export function rowsAbout(what: string): Readonly<Record<Verdict, Row>> {
  const row =
    (verdict: Verdict): Row =>
    (found, remedy) => ({ what, found, verdict, ...(remedy !== undefined && { remedy }) });
  return { problem: row('problem'), unknown: row('unknown'), warning: row('warning'), ok: row('ok') };
}

type Named = string | { readonly name: string };

/** A row about all of these; none without any. */
export function rowOnAny(
  named: readonly Named[],
  noun: string,
  row: (names: string) => Finding,
): readonly Finding[] {
  return named.length === 0 ? [] : [row(countedNames(named, noun))];
}

/** A row for each group with the same text. `first`: of the group. */
export function rowPerText<T extends { readonly name: string; readonly text: string }>(
  named: readonly T[],
  noun: string,
  row: (text: string, names: string, first: T) => Finding,
): readonly Finding[] {
  return [...Map.groupBy(named, ({ text }) => text)].map(([text, of]) =>
    row(text, countedNames(of, noun), of[0] as T),
  );
}

/** Names shown of a list. */
const maxNamed = 3;

/** Such as `3 CiliumNodes (a, b, c)`. `named`: names, or what has one. */
export function countedNames(named: readonly Named[], noun: string): string {
  const more = named.length - maxNamed;
  const shown = named.slice(0, maxNamed).map((each) => (typeof each === 'string' ? each : each.name));
  return `${counted(named.length, noun)} (${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}

/** The worst of them; `ok` without any. */
export function worstOf(findings: readonly Finding[]): Verdict {
  return verdicts.find((each) => findings.some(({ verdict }) => verdict === each)) ?? 'ok';
}

const styles = {
  problem: 'bad',
  unknown: 'doubtful',
  warning: 'doubtful',
  ok: 'good',
} as const satisfies Record<Verdict, Line['style']>;

/** A row for each, and a summary. */
export function findingLines(findings: readonly Finding[], width: number | undefined): readonly Line[] {
  const counts = verdicts
    .map((verdict) => [verdict, findings.filter((each) => each.verdict === verdict).length] as const)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict}`);
  return [
    ...findings.map(rowOf),
    () => [{ text: '' }],
    told('in all', counts.join(', '), styles[worstOf(findings)]),
  ].flatMap((part) => part(width));
}

/** Without a terminal, each row is one line. */
function rowOf({ what, found, verdict, remedy }: Finding): Part {
  const text = `${what}: ${found}`;
  const style = styles[verdict];
  return (width) => {
    if (remedy === undefined) return told(verdict, text, style)(width);
    if (width === undefined) return told(verdict, `${text}; remedy: ${remedy}`, style)(width);
    return [...told(verdict, text, style)(width), ...told('', `remedy: ${remedy}`)(width)];
  };
}
