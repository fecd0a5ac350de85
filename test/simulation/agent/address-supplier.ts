// Offers the node single addresses, and takes some back by the handshake of status.ipam.release-ips.
import type { Random } from '../../../src/runtime/random.ts';
import { type JsonObject, objectAt, textAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { type Ask, type Blocks, ownPath, type Supplier } from './supplier.ts';

/** The number of addresses of each family. Some of them are offered at a time. */
const max = 24;

const fields = {
  ipv4: { pool: 'pool', used: 'used', releasing: 'release-ips', address: (n: number) => `10.0.9.${n + 1}` },
  ipv6: {
    pool: 'ipv6-pool',
    used: 'ipv6-used',
    releasing: 'release-ipv6s',
    address: (n: number) => `fd00:9::${(n + 1).toString(16)}`,
  },
} as const;

type Field = (typeof fields)[keyof typeof fields];

export class AddressSupplier implements Supplier {
  readonly #fields: readonly Field[];
  readonly #random: Random;
  readonly #pause: () => Promise<void>;
  #wanted = 10;
  #next = 0;

  constructor({ families }: Blocks, random: Random, pause: () => Promise<void>) {
    this.#fields = families.map((family) => fields[family]);
    this.#random = random;
    this.#pause = pause;
  }

  setUp(): Promise<void> {
    return Promise.resolve();
  }

  async step(object: JsonObject, ask: Ask): Promise<void> {
    for (const field of this.#fields) {
      await this.#grow(object, field, ask);
      await this.#release(object, field, ask);
    }
  }

  trouble(): void {
    this.#wanted = 3 + this.#random.integer(12);
  }

  calm(): void {
    // Nothing is away.
  }

  supplies(address: string, object: JsonObject | undefined): boolean {
    return this.#fields.some(({ pool }) => valueAt(object, 'spec', 'ipam', pool, address) !== undefined);
  }

  problemsAtRest(object: JsonObject | undefined): readonly string[] {
    return this.#fields
      .map(({ used }) => Object.keys(objectAt(object, 'status', 'ipam', used)))
      .filter((addresses) => addresses.length > 0)
      .map((addresses) => `${addresses.join()} are shown in use when nothing is held`);
  }

  async #grow(object: JsonObject, { pool, address }: Field, ask: Ask): Promise<void> {
    const offered = Object.keys(objectAt(object, 'spec', 'ipam', pool));
    const added: Record<string, JsonObject> = {};
    for (let tried = 0; tried < max && offered.length + Object.keys(added).length < this.#wanted; tried++) {
      const ip = address(this.#next++ % max);
      if (!offered.includes(ip)) added[ip] = {};
    }
    if (Object.keys(added).length > 0) await ask('PATCH', ownPath, { spec: { ipam: { [pool]: added } } });
  }

  async #release(object: JsonObject, field: Field, ask: Ask): Promise<void> {
    const { pool, releasing } = field;
    const offered = Object.keys(objectAt(object, 'spec', 'ipam', pool));
    const states = objectAt(object, 'status', 'ipam', releasing);
    const say = (ip: string, state: string | null): Promise<JsonObject> =>
      ask('PATCH', `${ownPath}/status`, { status: { ipam: { [releasing]: { [ip]: state } } } });
    for (const ip of Object.keys(states)) {
      const state = textAt(states, ip);
      if (state === 'do-not-release') await say(ip, null);
      if (state !== 'ready-for-release') continue;
      // The agent consents: from here on, the cloud may give the address to anybody.
      await ask('PATCH', ownPath, { spec: { ipam: { [pool]: { [ip]: null } } } });
      await this.#pause();
      await say(ip, 'released');
    }
    const free = offered.filter((ip) => states[ip] === undefined);
    // Any of them, because what it knows of their use may be old.
    if (free.length > this.#wanted) await say(this.#random.pick(free), 'marked-for-release');
  }
}
