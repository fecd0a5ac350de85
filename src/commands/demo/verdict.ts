// Defines how a demonstration can end.
import { tooSlow } from './progress.ts';

export type Verdict =
  | { readonly kind: 'settled' }
  | { readonly kind: 'broken' }
  /** Nothing changes any more. `missing`: titles of chapters that did not show everything. */
  | { readonly kind: 'standstill'; readonly missing: readonly string[] }
  | { readonly kind: 'interrupted' }
  /** `starved`: its machine is too slow for it. */
  | { readonly kind: 'controllerEnded' | 'starved'; readonly why: string };

/** Whether the machine, or a controller that is stuck, kept it from its end. */
export function isTooSlow({ kind }: Verdict): boolean {
  return kind === 'standstill' || kind === 'starved';
}

/** `releases`: a settled node has no more than its watermarks ask for, either. */
export function wordsOf(verdict: Verdict, releases: boolean): string {
  switch (verdict.kind) {
    case 'settled':
      return `every pod has its address, every node what its watermarks ask for${releases ? ' and no more' : ''}, and no invariant was broken`;
    case 'broken':
      return 'an invariant was broken';
    case 'standstill':
      return tooSlow(
        `not everything is settled${
          verdict.missing.length > 0 ? `; not at their end: ${verdict.missing.join(', ')}` : ''
        }`,
      );
    case 'interrupted':
      return 'interrupted';
    case 'controllerEnded':
    case 'starved':
      return verdict.why;
  }
}
