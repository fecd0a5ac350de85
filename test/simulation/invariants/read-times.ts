// When each controller last read the state of the cloud. What it offers can be no newer.
/** More than arrive while a request is in flight. */
const remembered = 16;

export class ReadTimes {
  readonly #now: () => number;
  /** By controller and instance, latest last; `*` stands for any last part of an id. */
  readonly #at = new Map<string, readonly number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request that reads the interfaces of these instances was answered. */
  add(identity: string, instances: readonly string[]): void {
    for (const instance of instances) {
      const key = `${identity} ${instance}`;
      this.#at.set(key, [...(this.#at.get(key) ?? []).slice(1 - remembered), this.#now()]);
    }
  }

  /** Time of the controller's last answer about the instance before `end`, in ms; -Infinity if there was none. */
  last(identity: string, instanceId: string, end: number): number {
    const keys = [instanceId, instanceId.replace(/[^/]*$/, '*')].map((each) => `${identity} ${each}`);
    const times = keys.flatMap((key) => this.#at.get(key) ?? []);
    return Math.max(-Infinity, ...times.filter((at) => at <= end));
  }
}
