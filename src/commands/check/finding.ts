// A row of the command check, and how rows are summed up and printed. Pure.
import { type Line, type Part, told } from '../status/text-table.ts';

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

export function ok(what: string, found: string): Finding {
  return { what, found, verdict: 'ok' };
}

export function finding(
  verdict: Exclude<Verdict, 'ok'>,
  what: string,
  found: string,
  remedy?: string,
): Finding {
  return { what, found, verdict, ...(remedy !== undefined && { remedy }) };
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
