// A client of the REST calls: takes addresses with a timer, stops the timer once it has put them to use, and releases
// them. The client may end before it stops the timer.
import type { Family } from '../../../src/blocks/set/cidr.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { AgentChecks, Shown } from './agent-checks.ts';
import type { CniClient } from './cni-client.ts';

export interface RestUsersOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly client: CniClient;
  readonly checks: AgentChecks;
  readonly families: readonly Family[];
  /** How long an address with a timer is held, in ms. */
  readonly expiration: number;
  /** Pods in whose names some ask, one at a time, so that they get addresses of their pool. */
  readonly pods: readonly { readonly owner: string; readonly pool: string }[];
  /** The pool of users that name no pod; undefined if there are no pools. */
  readonly defaultPool: string | undefined;
}

interface Taken {
  readonly ip: string;
  readonly uuid: string;
  readonly pool: string;
}

const never = new AbortController().signal;

export class RestUsers {
  active = 0;
  readonly #options: RestUsersOptions;
  readonly #busy = new Set<string>();
  #count = 0;
  #boot = 0;

  constructor(options: RestUsersOptions) {
    this.#options = options;
  }

  reboot(): void {
    this.#boot++;
  }

  async user(): Promise<void> {
    const { client, checks, families, random } = this.#options;
    const [name, boot] = [`rest-${this.#count++}`, this.#boot];
    const { owner, pool } = this.#choosePod() ?? { owner: name, pool: this.#options.defaultPool };
    this.#busy.add(owner);
    this.active++;
    try {
      const answer = await client.ask('POST', `/v1/ipam?owner=${owner}`, { expiration: 'true' });
      if (answer?.status !== 201) return;
      const taken = takenIn(answer.body, families);
      checks.begin(
        name,
        taken.map(({ ip }) => ip),
        { families, pool },
      );
      await this.#wait(this.#options.expiration / 4);
      // A user that ends here leaves its addresses to their timers.
      if (random.chance(0.3)) return;
      if (await this.#stopTimers(taken, boot)) await this.#wait(90_000);
      if (boot !== this.#boot) return;
      checks.end(name);
      for (const each of taken) await this.#release(each, owner, boot);
    } finally {
      if (boot === this.#boot) checks.end(name);
      this.#busy.delete(owner);
      this.active--;
    }
  }

  #choosePod(): RestUsersOptions['pods'][number] | undefined {
    const { random, pods } = this.#options;
    return random.chance(0.5) ? pods.find(({ owner }) => !this.#busy.has(owner)) : undefined;
  }

  /** False if one could not be stopped in time: then the client uses none of them any longer. */
  async #stopTimers(taken: readonly Taken[], boot: number): Promise<boolean> {
    const { clock, client, expiration } = this.#options;
    const end = clock.monotonic() + expiration / 2;
    const left = new Set(taken);
    while (left.size > 0 && boot === this.#boot) {
      if (clock.monotonic() >= end) return false;
      for (const each of left) {
        const { ip, uuid, pool } = each;
        const answer = await client.ask('DELETE', `/v1/ipam/${ip}/expiration?uuid=${uuid}&pool=${pool}`);
        // 404: an earlier try stopped it, and its answer was lost.
        if (answer?.status === 200 || answer?.status === 404) left.delete(each);
      }
      await this.#wait(2000);
    }
    return true;
  }

  async #release({ ip, pool }: Taken, owner: string, boot: number): Promise<void> {
    while (boot === this.#boot) {
      const shown = await this.#options.client.ask('GET', '/v1/ipam');
      if (shown !== undefined) {
        const { addresses } = JSON.parse(shown.body ?? '') as Shown;
        if (addresses[ip]?.owner !== owner) return;
        await this.#options.client.ask('DELETE', `/v1/ipam/${ip}?pool=${pool}`);
      }
      await this.#wait(2000);
    }
  }

  #wait(max: number): Promise<void> {
    return sleep(this.#options.clock, this.#options.random.integer(max), never);
  }
}

function takenIn(text: string | undefined, families: readonly Family[]): readonly Taken[] {
  const body = JSON.parse(text ?? '') as Partial<
    Record<Family, { ip: string; 'expiration-uuid': string }>
  > & {
    address: Readonly<Record<string, string>>;
  };
  return families.flatMap((family) => {
    const { ip, 'expiration-uuid': uuid } = body[family] ?? {};
    const pool = body.address[`${family}-pool-name`] ?? '';
    return ip === undefined || uuid === undefined ? [] : [{ ip, uuid, pool }];
  });
}
