// Types of a row in the metric table. It holds no metric and imports no library.

/** The closed set of a label's values, or their description. */
export type LabelDefinition = readonly string[] | string;

export type LabelDefinitions = Readonly<Record<string, LabelDefinition>>;

export interface CounterDefinition<Labels extends LabelDefinitions = LabelDefinitions> {
  readonly kind: 'counter';
  /** The thing that is counted, in one sentence. */
  readonly help: string;
  readonly labels: Labels;
}

export interface GaugeDefinition<Labels extends LabelDefinitions = LabelDefinitions> {
  readonly kind: 'gauge';
  readonly help: string;
  readonly labels: Labels;
}

export interface HistogramDefinition<Labels extends LabelDefinitions = LabelDefinitions> {
  readonly kind: 'histogram';
  readonly help: string;
  readonly labels: Labels;
  /** Ascending upper bounds of the buckets, without infinity. */
  readonly buckets: readonly number[];
}

export type MetricDefinition = CounterDefinition | GaugeDefinition | HistogramDefinition;

export function counter<const Labels extends LabelDefinitions>(
  help: string,
  labels: Labels,
): CounterDefinition<Labels> {
  return { kind: 'counter', help, labels };
}

export function gauge<const Labels extends LabelDefinitions>(
  help: string,
  labels: Labels,
): GaugeDefinition<Labels> {
  return { kind: 'gauge', help, labels };
}

export function histogram<const Labels extends LabelDefinitions>(
  help: string,
  labels: Labels,
  buckets: readonly number[],
): HistogramDefinition<Labels> {
  return { kind: 'histogram', help, labels, buckets };
}
