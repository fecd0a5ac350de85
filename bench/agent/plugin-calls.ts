// Calls of a CNI plugin as a container runtime makes them: a process for each.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { percentile } from '../percentile.ts';

export interface Contender {
  readonly name: string;
  readonly program: string;
  /** `ipam` of the network, without its type. */
  readonly ipam: Readonly<Record<string, unknown>>;
}

export type Verb = 'ADD' | 'DEL';

/** In ms. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
}

export const subnet = '10.64.0.0/16';

export function confOf({ name, ipam }: Pick<Contender, 'name' | 'ipam'>): string {
  return JSON.stringify({ cniVersion: '1.0.0', name: 'pods', type: 'ptp', ipam: { type: name, ...ipam } });
}

export function environmentOf(verb: Verb, container: string): Readonly<Record<string, string>> {
  return {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: container,
    CNI_NETNS: '/var/run/netns/x',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/opt/cni/bin',
  };
}

/** Resolves to the ms from the start of the program to its end. */
export function call(contender: Contender, verb: Verb, container: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(contender.program, [], {
      env: environmentOf(verb, container),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`${contender.name} ${verb} ${container} failed`));
    });
    child.stdin.end(confOf(contender));
  });
}

export function timesOf(times: readonly number[]): Times {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
