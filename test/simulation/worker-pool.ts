// A pool of processes that run seeds, each one seed after another.
import { fork } from 'node:child_process';
import type { SeedReport, SeedRequest } from './seed-worker.ts';

export interface WorkerPoolOptions {
  readonly jobs: number;
  /** Script of the worker process. */
  readonly worker: URL;
  /** Share of seeds that also run over the wire. */
  readonly wireShare: number;
  readonly onReport: (report: SeedReport) => void;
  /** Whether to start another seed. */
  readonly mayContinue: () => boolean;
  /** Abandons running seeds when aborted. */
  readonly signal?: AbortSignal;
}

/** Resolves once every seed ran; rejects if a process exits early. */
export async function runSeeds(seeds: readonly string[], options: WorkerPoolOptions): Promise<void> {
  const queue = [...seeds];
  const { jobs } = options;
  await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, () => runWorker(queue, options)));
}

function runWorker(
  queue: string[],
  { worker, wireShare, onReport, mayContinue, signal }: WorkerPoolOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(worker, { execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'] });
    let current: string | undefined;
    const end = (): void => void child.kill();
    signal?.addEventListener('abort', end, { once: true });
    const next = (): void => {
      current = mayContinue() && signal?.aborted !== true ? queue.shift() : undefined;
      if (current === undefined) child.disconnect();
      else child.send({ seed: current, wireShare } satisfies SeedRequest);
    };
    child.on('message', (message) => {
      onReport(message as SeedReport);
      next();
    });
    child.on('exit', (code) => {
      signal?.removeEventListener('abort', end);
      if (current === undefined || signal?.aborted === true) resolve();
      else reject(new Error(`the process that ran seed ${current} exited with ${code}`));
    });
    next();
  });
}
