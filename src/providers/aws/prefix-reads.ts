// Brings the reads of single instances together: all that are asked for within a moment share one call.
import type { Clock } from '../../runtime/clock.ts';
import type { Caller } from '../contract/priority.ts';
import { partsOf } from '../reading/in-parts.ts';
import type { Ec2Client } from './ec2-client.ts';
import { maxFilterValues } from './read-list.ts';
import { type InstancePrefixes, readPrefixes } from './instance-prefixes.ts';

type Waiting = PromiseWithResolvers<InstancePrefixes>;

/** How long the first read waits for others, in ms. */
const moment = 50;

const caller: Caller = { priority: 'high' };

export class PrefixReads {
  readonly #client: Ec2Client;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #pageSize: number;
  /** By instance. */
  #waiting = new Map<string, Waiting>();
  /** Reads are shared, so no caller ends them: each has the time limit of a call. */
  readonly #never = new AbortController().signal;

  /** `pageSize`: results per page, 5 to 1000. */
  constructor(client: Ec2Client, clock: Pick<Clock, 'schedule'>, pageSize: number) {
    this.#client = client;
    this.#clock = clock;
    this.#pageSize = pageSize;
  }

  /** Rejects with a CloudError. `id`: in EC2's form. */
  read(id: string): Promise<InstancePrefixes> {
    const known = this.#waiting.get(id);
    if (known !== undefined) return known.promise;
    if (this.#waiting.size === 0) this.#clock.schedule(moment, () => this.#sendAll());
    const waiting = Promise.withResolvers<InstancePrefixes>();
    this.#waiting.set(id, waiting);
    return waiting.promise;
  }

  #sendAll(): void {
    const all = [...this.#waiting];
    this.#waiting = new Map();
    for (const part of partsOf(all, maxFilterValues)) void this.#send(part);
  }

  async #send(part: readonly (readonly [id: string, waiting: Waiting])[]): Promise<void> {
    const context = { caller, signal: this.#never };
    const ids = part.map(([id]) => id);
    try {
      const found = await readPrefixes({ client: this.#client, context }, ids, this.#pageSize);
      for (const [id, { resolve }] of part) resolve(found.get(id) ?? { kind: 'missing' });
    } catch (error) {
      for (const [, { reject }] of part) reject(error);
    }
  }
}
