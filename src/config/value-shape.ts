// Describes option values as plain data, from which other checks derive, such as the Helm chart's schema. Those may
// accept what the parser rejects, and never reject what it accepts.

export type ValueShape =
  | { readonly type: 'boolean'; readonly values: readonly boolean[] }
  /** One of these texts. */
  | { readonly type: 'choice'; readonly values: readonly string[] }
  /** `or`: accepted outside the range. */
  | { readonly type: 'integer'; readonly min: number; readonly max: number; readonly or?: number }
  /** Greater than 0. */
  | { readonly type: 'number'; readonly max?: number }
  | DurationShape
  /** A regular expression. Its only assertions are ^, $ and, right after ^, a maximum length: `(?=.{1,253}$)`. */
  | { readonly type: 'text'; readonly pattern: string }
  /** Items separated by commas or spaces; `item` is a regular expression for one whole item. */
  | { readonly type: 'list'; readonly item: string }
  /** Pairs, or a JSON object of strings. */
  | { readonly type: 'tags' };

/** A Go duration; bounds in ms. */
export interface DurationShape {
  readonly type: 'duration';
  readonly min: number;
  readonly max: number;
  /** Accepts whole numbers as seconds. */
  readonly plainSeconds?: true;
  /** Accepts whole seconds only. */
  readonly wholeSeconds?: true;
  /** Accepts 0 below the bounds. */
  readonly never?: true;
}
