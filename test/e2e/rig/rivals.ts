// Controllers that contend for one Lease, and who of them holds it: by what the API server says.
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { E2eCluster } from './e2e-cluster.ts';
import type { E2eController } from './e2e-controller.ts';
import { installNamespace } from './service-accounts.ts';

const lease = `/apis/coordination.k8s.io/v1/namespaces/${installNamespace}/leases/headwater`;

/** Between two looks at the Lease, in ms: so exact are the times of `Holding`. */
const lookInterval = 20;
const patience = 120_000;

export interface Rival {
  readonly controller: E2eController;
  readonly identity: string;
}

export interface Holding {
  readonly rival: Rival;
  /** When it was seen to hold the Lease, in monotonic ms. */
  readonly at: number;
}

export class Rivals {
  readonly #cluster: E2eCluster;
  readonly #alive = new Map<string, Rival>();
  #lost = 0;

  constructor(cluster: E2eCluster) {
    this.#cluster = cluster;
  }

  /** Starts controllers until so many run, and waits until they are ready: on standby, or leading and with the cloud read. */
  async fill(count = 2): Promise<void> {
    while (this.#alive.size < count) {
      const controller = await this.#cluster.startReadyController();
      const identity = await controller.identity(this.#cluster.signal);
      this.#alive.set(identity, { controller, identity });
      void controller.process.child.ended.then((how) => {
        this.#alive.delete(identity);
        if (how === 'ended with exit code 1') this.#lost++;
      });
    }
  }

  /** How many ended because they lost the Lease: on a machine that is too busy for its timings, some do unasked. */
  get lost(): number {
    return this.#lost;
  }

  /** Who leads, as soon as somebody does; `other` than that one. */
  async leader(other?: Rival): Promise<Holding> {
    const { clock } = this.#cluster;
    let found: Holding | undefined;
    const what = other === undefined ? 'one of them leads' : 'another one leads';
    await this.#cluster.until(
      what,
      async () => {
        const rival = this.#alive.get(await this.holder());
        if (rival === undefined || rival.identity === other?.identity) return false;
        found = { rival, at: clock.monotonic() };
        return true;
      },
      { every: lookInterval, limit: patience },
    );
    if (found === undefined) throw new Error('nobody leads');
    return found;
  }

  /** When the Lease no longer names `rival`, in monotonic ms. */
  async released(rival: Rival): Promise<number> {
    const isFree = async (): Promise<boolean> => (await this.holder()) !== rival.identity;
    await this.#cluster.until('the Lease is given back', isFree, { every: lookInterval, limit: patience });
    return this.#cluster.clock.monotonic();
  }

  /** The name in the Lease; empty where it names nobody. */
  async holder(): Promise<string> {
    return textAt(await this.#cluster.api.call('GET', lease), 'spec', 'holderIdentity');
  }
}
