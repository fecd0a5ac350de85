// Processes that play seeds side by side, each one after another.
import { fork } from 'node:child_process';
import type { PlayReport, PlayRequest } from './seed-worker.ts';

export interface CrewOptions {
  readonly jobs: number;
  /** Where the simulation lies that is played. */
  readonly worker: URL;
  /** Of the seeds that are played on both rigs. */
  readonly twice: number;
  readonly onReport: (report: PlayReport) => void;
  /** Whether to go on. */
  readonly goesOn: () => boolean;
}

/** Resolves once every seed is played; rejects where a process ends before its time. */
export async function playAll(seeds: readonly string[], options: CrewOptions): Promise<void> {
  const queue = [...seeds];
  const { jobs } = options;
  await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, () => member(queue, options)));
}

function member(queue: string[], { worker, twice, onReport, goesOn }: CrewOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(worker, { execArgv: ['--max-semi-space-size=64'] });
    let current: string | undefined;
    const next = (): void => {
      current = goesOn() ? queue.shift() : undefined;
      if (current === undefined) child.disconnect();
      else child.send({ seed: current, twice } satisfies PlayRequest);
    };
    child.on('message', (message) => {
      onReport(message as PlayReport);
      next();
    });
    child.on('exit', (code) => {
      if (current === undefined) resolve();
      else reject(new Error(`the process that played seed ${current} ended with ${code}`));
    });
    next();
  });
}
