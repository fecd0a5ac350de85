// Runs an installed Prometheus next to the demonstration. It scrapes the controller and evaluates the chart's alert
// rules.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type Clock, sleep } from '../../runtime/clock.ts';

export interface PrometheusOptions {
  /** Holds its configuration and data. The caller removes it. */
  readonly directory: string;
  readonly clock: Clock;
}

/** Between two scrapes, in seconds: the demonstration lasts a minute. */
const scrapeInterval = 1;
/** Minimum time between two readiness checks, and the limit to become ready, in ms. */
const readyInterval = 100;
const readyWithin = 20_000;

export class Prometheus {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #targets: string;
  readonly #ending = new AbortController();
  #followed: string | undefined;

  private constructor(child: ChildProcess, url: string, targets: string) {
    this.#child = child;
    this.url = url;
    this.#targets = targets;
    const kill = (): void => this.kill();
    process.once('exit', kill);
    child.once('close', () => process.off('exit', kill));
  }

  /** Resolves once it answers queries, or with the reason why it does not. */
  static async start({
    directory,
    clock,
  }: PrometheusOptions): Promise<Prometheus | { readonly missing: string }> {
    const port = await freePort();
    const [config, targets] = [join(directory, 'prometheus.yml'), join(directory, 'targets.json')];
    await writeFile(config, configuration(targets));
    await writeFile(targets, '[]');
    const child = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) =>
        resolve('code' in error && error.code === 'ENOENT' ? 'it is not on the PATH' : error.message),
      );
      child.once('close', (code, signal) => resolve(`it ended with ${code ?? signal}`));
    });
    const started = new Prometheus(child, `http://127.0.0.1:${port}`, targets);
    const problem = await Promise.race([ended, started.#ready(clock)]);
    if (problem === undefined) return started;
    started.kill();
    return { missing: problem };
  }

  /** Scrapes the controller at this address from now on: a new controller has a new port. */
  async follow(address: string | undefined): Promise<void> {
    if (address === undefined || address === this.#followed) return;
    this.#followed = address;
    const written = `${this.#targets}.new`;
    await writeFile(written, JSON.stringify([{ targets: [address] }]));
    await rename(written, this.#targets);
  }

  kill(): void {
    this.#ending.abort();
    this.#child.kill('SIGKILL');
  }

  /** Rejects once it is killed. */
  async #ready(clock: Clock): Promise<string | undefined> {
    const { signal } = this.#ending;
    const latest = clock.monotonic() + readyWithin;
    while (clock.monotonic() < latest) {
      const answer = await fetch(`${this.url}/-/ready`, { signal }).catch(() => undefined);
      if (answer?.ok === true) return undefined;
      await sleep(clock, readyInterval, signal);
    }
    return `it is not ready after ${readyWithin / 1000} s`;
  }
}

function configuration(targets: string): string {
  // Next to the program, as in a checkout; a bundle alone has no rules.
  const rules = join(dirname(process.argv[1] ?? ''), '..', 'charts', 'headwater', 'rules', 'headwater.yaml');
  return JSON.stringify({
    global: { scrape_interval: `${scrapeInterval}s`, evaluation_interval: `${scrapeInterval}s` },
    ...(existsSync(rules) && { rule_files: [rules] }),
    scrape_configs: [
      {
        job_name: 'headwater',
        file_sd_configs: [{ files: [targets], refresh_interval: `${scrapeInterval}s` }],
        relabel_configs: [{ target_label: 'cluster', replacement: 'demo' }],
      },
    ],
  });
}

/** A port that is free now: Prometheus cannot report a port that it chose. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
