// A Prometheus of our own, on loopback, over the data of a directory or over what it scrapes; and what is asked of any.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RigChild } from '../../../rig/child-process.ts';
import { callJson, getText } from '../../../rig/http.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { freePorts } from '../../e2e/rig/free-ports.ts';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since the epoch, and the value as text. */
  readonly value: readonly [number, string];
}

export interface Line {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

interface Answer<Result> {
  readonly status: 'success' | 'error';
  readonly data: { readonly result: readonly Result[] };
}

/** What is asked of a Prometheus. Each question rejects with what Prometheus says against it. */
export class PrometheusApi {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async query(expr: string, signal: AbortSignal, time?: number): Promise<readonly Sample[]> {
    return this.#ask<Sample>(
      'query',
      { query: expr, ...(time !== undefined && { time: String(time) }) },
      signal,
    );
  }

  /** At each step, both ends included. */
  async range(
    expr: string,
    over: { readonly start: number; readonly end: number; readonly step: number },
    signal: AbortSignal,
  ): Promise<readonly Line[]> {
    const { start, end, step } = over;
    const asked = { query: expr, start: String(start), end: String(end), step: String(step) };
    return this.#ask<Line>('query_range', asked, signal);
  }

  async #ask<Result>(
    path: string,
    asked: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly Result[]> {
    const words = new URLSearchParams(asked).toString();
    const url = `${this.url}/api/v1/${path}?${words}`;
    const { data } = await callJson<Answer<Result>>('GET', url, undefined, signal);
    return data.result;
  }
}

export class PrometheusServer {
  readonly api: PrometheusApi;
  readonly #child: RigChild;

  private constructor(child: RigChild, api: PrometheusApi) {
    this.#child = child;
    this.api = api;
  }

  /** Over blocks in `directory`; it scrapes nothing. Resolves once it answers. */
  static async over(directory: string, signal: AbortSignal): Promise<PrometheusServer> {
    const [port = 0] = await freePorts(1);
    const config = join(directory, 'prometheus.yml');
    await writeFile(config, '{}');
    const child = new RigChild({
      name: 'prometheus',
      command: 'prometheus',
      args: [
        `--config.file=${config}`,
        `--storage.tsdb.path=${directory}`,
        '--storage.tsdb.retention.time=100y',
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
    });
    const api = new PrometheusApi(`http://127.0.0.1:${port}`);
    const ready = async (): Promise<void> => {
      while (!(await getText(`${api.url}/-/ready`, signal).then(Boolean, () => false))) {
        await sleep(clock, 100, signal);
      }
    };
    await Promise.race([ready(), child.failure()]);
    return new PrometheusServer(child, api);
  }

  async stop(): Promise<void> {
    await this.#child.kill();
  }
}
