// When each controller last learnt what the cloud has: what it offers can be no truer than that.
import { listAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

/** More than come while a request is under way. */
const remembered = 16;

export class Readings {
  readonly #now: () => number;
  /** By controller and instance, the newest last; `*` stands for all. */
  readonly #at = new Map<string, readonly number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An answer to DescribeNetworkInterfaces with this input has come. */
  add(identity: string, input: unknown): void {
    const filters = listAt(input as JsonObject, 'Filters');
    // What asks for detached interfaces learns nothing of instances.
    if (filters.some((filter) => listAt(filter, 'Values').includes('available'))) return;
    const byInstance = filters.filter((filter) => textAt(filter, 'Name') === 'attachment.instance-id');
    const instances = byInstance.flatMap((filter) => listAt(filter, 'Values').map(String));
    for (const instance of byInstance.length === 0 ? ['*'] : instances) {
      const key = `${identity} ${instance}`;
      this.#at.set(key, [...(this.#at.get(key) ?? []).slice(1 - remembered), this.#now()]);
    }
  }

  /** When the controller had its last answer about the instance before `end`, in ms; -Infinity where it had none. */
  last(identity: string, instanceId: string, end: number): number {
    const keys = [`${identity} ${instanceId}`, `${identity} *`];
    const times = keys.flatMap((key) => this.#at.get(key) ?? []);
    return Math.max(-Infinity, ...times.filter((at) => at <= end));
  }
}
