// What a controller in virtual time shows at /metrics, written down as OpenMetrics with the time of each scrape, for
// `promtool tsdb create-blocks-from openmetrics`.
import { closeSync, openSync, writeSync } from 'node:fs';

export interface HistoryOptions {
  readonly path: string;
  /** Only these are written: no query uses the others. */
  readonly metrics: ReadonlySet<string>;
  /** Seconds since the epoch at which virtual time starts. */
  readonly epoch: number;
}

export class MetricHistory {
  readonly #options: HistoryOptions;
  readonly #file: number;
  #lastAt = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#file = openSync(options.path, 'w');
  }

  /** Takes a scrape of one target at that virtual time, in ms. */
  add(text: string, at: number, target: Readonly<Record<string, string>>): void {
    const { metrics, epoch } = this.#options;
    const time = epoch + at / 1000;
    this.#lastAt = Math.max(this.#lastAt, time);
    const added = Object.entries(target)
      .map(([label, value]) => `${label}="${value}"`)
      .join(',');
    const lines = text.split('\n').flatMap((line) => {
      const end = line.search(/[{ ]/);
      if (end < 1 || line.startsWith('#') || !metrics.has(line.slice(0, end))) return [];
      const hasLabels = line[end] === '{';
      const rest = hasLabels ? line.slice(end + 1) : `}${line.slice(end)}`;
      const comma = rest.startsWith('}') ? '' : ',';
      return [`${line.slice(0, end)}{${added}${comma}${rest} ${time}\n`];
    });
    writeSync(this.#file, lines.join(''));
  }

  /** The latest scrape, in seconds since the epoch. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Nothing can be added after it. */
  close(): void {
    writeSync(this.#file, '# EOF\n');
    closeSync(this.#file);
  }
}
