// The selectors of series in an expression of PromQL, as Prometheus would evaluate them.

export interface Selector {
  readonly metric: string;
  /** As written, such as `state="total"`. */
  readonly matchers: readonly string[];
}

/** What is no metric where it stands alone. */
const words = new Set([
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'inf',
  'nan',
  'by',
  'without',
  'on',
  'ignoring',
]);
const labelLists = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;
const duration = /\[[^\]]*\]/g;
const name = /\b([a-zA-Z_][a-zA-Z0-9_]*)\s*(\{[^{}]*\}|\()?/g;

/** Throws where it finds what it takes for neither a metric nor a part of the language. */
export function selectorsIn(expr: string): readonly Selector[] {
  const rest = expr.replaceAll(duration, '').replaceAll(labelLists, ' ');
  return [...rest.matchAll(name)].flatMap(([, metric = '', after = '']) => {
    if (after === '(' || words.has(metric)) return [];
    return [{ metric, matchers: matchersIn(after) }];
  });
}

function matchersIn(braces: string): readonly string[] {
  return [...braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*("[^"]*")/g)].map(
    ([, label, operator, value]) => `${label}${operator}${value}`,
  );
}

export function labelsOf({ matchers }: Selector): readonly string[] {
  return matchers.map((matcher) => /^\w+/.exec(matcher)?.[0] ?? '');
}

export function textOf({ metric, matchers }: Selector): string {
  return `${metric}{${matchers.join(',')}}`;
}

/** As Grafana fills the variables in: everything is chosen. */
export function withAllChosen(expr: string): string {
  return expr
    .replaceAll(/\$(cluster|zone|subnet|node)\b/g, '.*')
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '1h');
}

/** Every text under the key `expr` of a document. */
export function expressionsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(expressionsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'expr' && typeof inner === 'string' ? [inner] : expressionsIn(inner),
  );
}
