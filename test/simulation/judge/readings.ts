// When each controller last learnt what the cloud has: what it offers can be no truer than that.
import { listAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

export class Readings {
  readonly #now: () => number;
  /** By controller and instance; `*` stands for all. */
  readonly #at = new Map<string, number>();

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
    for (const instance of byInstance.length === 0 ? ['*'] : instances)
      this.#at.set(`${identity} ${instance}`, this.#now());
  }

  /** When the controller last had an answer about the instance, in ms; -Infinity where it never had. */
  last(identity: string, instanceId: string): number {
    const own = this.#at.get(`${identity} ${instanceId}`) ?? -Infinity;
    return Math.max(own, this.#at.get(`${identity} *`) ?? -Infinity);
  }
}
