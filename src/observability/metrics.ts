// Creates typed instruments for every row of the metric table, in a registry of their own. It uses no global registry,
// so that several controllers can share one process.
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { agentMetrics } from './agent-metrics.ts';
import { addressMetrics, headwaterMetrics } from './headwater-metrics.ts';
import type {
  CounterDefinition,
  GaugeDefinition,
  HistogramDefinition,
  LabelDefinitions,
  MetricDefinition,
} from './metric-definition.ts';
import { nodeIpamMetrics } from './node-ipam-metrics.ts';
import { blockMetricsOfOperator, operatorMetrics } from './operator-metrics.ts';

const table = { ...operatorMetrics, ...nodeIpamMetrics, ...headwaterMetrics };

export type MetricName = keyof typeof table;

export const metricTable: Readonly<Record<MetricName, MetricDefinition>> = table;

/** An instrument for each metric, under its full name, so that a text search finds its writers. */
export type Metrics = InstrumentsOf<typeof table>;

/** The same for the agent of a node. */
export type AgentMetrics = InstrumentsOf<typeof agentMetrics>;

type InstrumentsOf<Table> = { readonly [Name in keyof Table]: InstrumentOf<Table[Name]> };

type InstrumentOf<Definition> =
  Definition extends CounterDefinition<infer Labels>
    ? CounterInstrument<Labels>
    : Definition extends GaugeDefinition<infer Labels>
      ? GaugeInstrument<Labels>
      : Definition extends HistogramDefinition<infer Labels>
        ? HistogramInstrument<Labels>
        : never;

export interface CounterInstrument<Labels extends LabelDefinitions> {
  /** Adds 1, or `amount`, which must not be negative. */
  add(...labelsAndAmount: AfterLabels<Labels, [amount?: number]>): void;
}

export interface GaugeInstrument<Labels extends LabelDefinitions> {
  set(...labelsAndValue: AfterLabels<Labels, [value: number]>): void;
  /** Sets exactly these series and removes all others. */
  replaceAll(series: readonly Series<Labels>[]): void;
}

export interface HistogramInstrument<Labels extends LabelDefinitions> {
  observe(...labelsAndValue: AfterLabels<Labels, [value: number]>): void;
}

export type Series<Labels extends LabelDefinitions> = readonly [labels: LabelValues<Labels>, value: number];

/** A label with a closed set takes only its values; any other label takes any text. */
export type LabelValues<Labels extends LabelDefinitions> = {
  readonly [Label in keyof Labels]: Labels[Label] extends readonly (infer Value)[] ? Value : string;
};

type AfterLabels<Labels extends LabelDefinitions, Rest extends unknown[]> = keyof Labels extends never
  ? Rest
  : [labels: LabelValues<Labels>, ...Rest];

export interface MetricRegistry<Instruments = Metrics> {
  readonly metrics: Instruments;
  readonly contentType: string;
  /** All series in the Prometheus text format. */
  readonly scrape: () => Promise<string>;
  /** Runs `collect` before every scrape, for values that are computed on demand. */
  readonly beforeScrape: (collect: () => void) => void;
  /** Removes the series of one node. */
  readonly forgetNode: (name: string) => void;
}

/** The kind of things that nodes get. */
export type ServedKind = 'addresses' | 'blocks' | 'blocksOfCloud';

export interface MetricRegistryOptions {
  /** Metrics of what nodes do not get are absent: 0 would say that it was counted. Default: all are there. */
  readonly serves?: ServedKind;
  /**
   * Also measures the process and its event loop. This starts timers that end only with the process, so it suits the
   * one registry of a program.
   */
  readonly measureProcess: boolean;
}

export function createMetricRegistry(options: MetricRegistryOptions): MetricRegistry {
  const created = createRegistry<Metrics>(metricTable, options);
  if (options.measureProcess) {
    created.metrics.headwater_heap_limit_bytes.set(getHeapStatistics().heap_size_limit);
  }
  return created;
}

/** The metrics of the command agent alone. */
export function createAgentMetricRegistry(options: MetricRegistryOptions): MetricRegistry<AgentMetrics> {
  return createRegistry<AgentMetrics>(agentMetrics, options);
}

/** `Instruments`: those of the table. */
function createRegistry<Instruments>(
  definitions: Readonly<Record<string, MetricDefinition>>,
  { measureProcess, serves }: MetricRegistryOptions,
): MetricRegistry<Instruments> {
  const registry = new Registry();
  const unseen = new Registry();
  const collectors: (() => void)[] = [];
  const perNode: Gauge<string>[] = [];
  const instruments: Record<string, unknown> = {};

  for (const [name, definition] of Object.entries(definitions)) {
    const isAbsent =
      (serves?.startsWith('blocks') === true && isOfAddresses(name)) ||
      (serves === 'blocks' && name === 'headwater_cloud_calls_in_flight');
    const metric = createMetric(isAbsent ? unseen : registry, name, definition);
    if (metric instanceof Gauge && 'target_node' in definition.labels) perNode.push(metric);
    instruments[name] = instrumentFor(metric);
  }
  if (measureProcess) collectDefaultMetrics({ register: registry });

  return {
    metrics: instruments as Instruments,
    contentType: registry.contentType,
    scrape: () => {
      for (const collect of collectors) collect();
      return registry.metrics();
    },
    beforeScrape: (collect) => {
      collectors.push(collect);
    },
    forgetNode: (node) => {
      for (const metric of perNode) metric.remove({ target_node: node });
    },
  };
}

/** Whether only processes that assign addresses of a cloud have it. */
export function isOfAddresses(name: string): boolean {
  return addressMetrics.has(name) || (name in operatorMetrics && !blockMetricsOfOperator.has(name));
}

type Metric = Counter<string> | Gauge<string> | Histogram<string>;

function createMetric(registry: Registry, name: string, definition: MetricDefinition): Metric {
  const labelNames = Object.keys(definition.labels);
  const shared = { name, help: definition.help, labelNames, registers: [registry] };
  if (definition.kind === 'counter') {
    return startAtZero(new Counter(shared), definition, (metric, labels) => metric.inc(labels, 0));
  }
  if (definition.kind === 'gauge') {
    return startAtZero(new Gauge(shared), definition, (metric, labels) => metric.set(labels, 0));
  }
  const histogram = new Histogram({ ...shared, buckets: [...definition.buckets] });
  return startAtZero(histogram, definition, (metric, labels) => metric.zero(labels));
}

/** Exports every series known in advance at zero, so that an alert can tell "none so far" from "not measured". */
function startAtZero<M extends Metric>(
  metric: M,
  { labels }: MetricDefinition,
  zero: (metric: M, labels: Record<string, string>) => void,
): M {
  let combinations: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return metric;
    combinations = combinations.flatMap((each) => values.map((value) => ({ ...each, [label]: value })));
  }
  for (const combination of combinations) zero(metric, combination);
  return metric;
}

function instrumentFor(metric: Metric): unknown {
  if (metric instanceof Counter) return { add: metric.inc.bind(metric) };
  if (metric instanceof Histogram) return { observe: metric.observe.bind(metric) };
  return {
    set: metric.set.bind(metric),
    replaceAll: (series: readonly Series<Record<string, string>>[]) => {
      metric.reset();
      for (const [labels, value] of series) metric.set(labels, value);
    },
  };
}
