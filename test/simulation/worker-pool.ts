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
  /** Whether to begin another. */
  readonly goesOn: () => boolean;
  /** Once it is aborted nothing is waited for: what is being played is given up. */
  readonly giveUp?: AbortSignal;
}

/** Resolves once every seed is played; rejects where a process ends before its time. */
export async function playAll(seeds: readonly string[], options: CrewOptions): Promise<void> {
  const queue = [...seeds];
  const { jobs } = options;
  await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, () => member(queue, options)));
}

function member(queue: string[], { worker, twice, onReport, goesOn, giveUp }: CrewOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(worker, { execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'] });
    let current: string | undefined;
    const end = (): void => void child.kill();
    giveUp?.addEventListener('abort', end, { once: true });
    const next = (): void => {
      current = goesOn() && giveUp?.aborted !== true ? queue.shift() : undefined;
      if (current === undefined) child.disconnect();
      else child.send({ seed: current, twice } satisfies PlayRequest);
    };
    child.on('message', (message) => {
      onReport(message as PlayReport);
      next();
    });
    child.on('exit', (code) => {
      giveUp?.removeEventListener('abort', end);
      if (current === undefined || giveUp?.aborted === true) resolve();
      else reject(new Error(`the process that played seed ${current} ended with ${code}`));
    });
    next();
  });
}
