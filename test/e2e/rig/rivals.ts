// Controllers that compete for one Lease, always as many as a Deployment keeps, and which of them holds it, according to the
// API server. The times of taking and releasing are those in the Lease, by the wall clock that all of them share:
// a read during a list of a large fleet may come seconds later.
import { sleep } from '../../../src/runtime/clock.ts';
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { E2eCluster } from './e2e-cluster.ts';
import type { RealApi } from './real-api.ts';
import type { E2eController } from './e2e-controller.ts';
import { installNamespace } from './service-accounts.ts';

const lease = `/apis/coordination.k8s.io/v1/namespaces/${installNamespace}/leases/headwater`;

/** Between two reads of the Lease, in ms, which limits the precision of the times in `Holding`. */
const lookInterval = 20;
const patience = 120_000;
const replicas = 2;

/** How a killed or stopped controller ends. */
const expectedEnds: ReadonlySet<string> = new Set(['ended with SIGKILL', 'ended with exit code 0']);
/** The one error of a controller that lost the Lease. */
export const lossOfLease = 'leader election lost, exiting';

export interface Rival {
  readonly controller: E2eController;
  readonly identity: string;
}

export interface Holding {
  readonly rival: Rival;
  /** When it was seen to hold the Lease, in monotonic ms. */
  readonly at: number;
  /** It did not hold the Lease before that; -Infinity if it did from the first read on. */
  readonly notBefore: number;
  /** When it took the Lease, in monotonic ms. */
  readonly tookAt: number;
}

/** The cluster that they compete in. */
export interface RivalsCluster extends Pick<E2eCluster, 'clock' | 'signal'> {
  readonly api: Pick<RealApi, 'call'>;
  until(
    what: string,
    isSo: () => boolean | Promise<boolean>,
    patience: { readonly limit?: number; readonly every?: number },
  ): Promise<void>;
  startController(): Promise<E2eController>;
}

export class Rivals {
  readonly #cluster: RivalsCluster;
  readonly #running = new Map<string, Rival>();
  readonly #ready = new Set<Rival>();
  readonly #surprises: string[] = [];
  #lost = 0;
  #isStarting = false;

  /** Starts the first controllers, and a new one for each that ends. */
  constructor(cluster: RivalsCluster) {
    this.#cluster = cluster;
    this.#replace();
  }

  /** Waits until none is missing and each is ready: on standby, or leading with the cloud read. */
  async complete(): Promise<void> {
    await this.#cluster.until('two controllers are ready', () => this.#ready.size === replicas, {
      limit: patience,
    });
  }

  /** How many ended because they lost the Lease: on an overloaded machine some do so without a test. */
  get lost(): number {
    return this.#lost;
  }

  /** Unexplained ends and failed starts. */
  get surprises(): readonly string[] {
    return this.#surprises;
  }

  /** The leader, as soon as there is one other than `other`. */
  async leader(other?: Rival): Promise<Holding> {
    const { clock } = this.#cluster;
    let notBefore = -Infinity;
    let found: Holding | undefined;
    const what = other === undefined ? 'one of them leads' : 'another one leads';
    await this.#cluster.until(
      what,
      async () => {
        const askedAt = clock.monotonic();
        const { holder, tookAt } = await this.#lease();
        const rival = this.#running.get(holder);
        if (rival !== undefined && rival.identity !== other?.identity) {
          found = { rival, at: clock.monotonic(), notBefore, tookAt };
          return true;
        }
        notBefore = askedAt;
        return false;
      },
      { every: lookInterval, limit: patience },
    );
    if (found === undefined) throw new Error('no controller leads');
    return found;
  }

  /**
   * Resolves once the Lease no longer names `rival`: with the time of the release, in monotonic ms, or undefined if another
   * controller was seen to have it first.
   */
  async released(rival: Rival): Promise<number | undefined> {
    let releasedAt: number | undefined;
    const isFree = async (): Promise<boolean> => {
      const { holder, writtenAt } = await this.#lease();
      if (holder === '') releasedAt = writtenAt;
      return holder !== rival.identity;
    };
    await this.#cluster.until('the Lease is released', isFree, { every: lookInterval, limit: patience });
    return releasedAt;
  }

  /** The name in the Lease, or an empty text; when it was taken and last written, in monotonic ms. */
  async #lease(): Promise<{ holder: string; tookAt: number; writtenAt: number }> {
    const found = await this.#cluster.api.call('GET', lease);
    const { clock } = this.#cluster;
    const sinceEpoch = clock.wall() - clock.monotonic();
    const timeAt = (name: string): number => Date.parse(textAt(found, 'spec', name)) - sinceEpoch;
    return {
      holder: textAt(found, 'spec', 'holderIdentity'),
      tookAt: timeAt('acquireTime'),
      writtenAt: timeAt('renewTime'),
    };
  }

  #replace(): void {
    if (!this.#isStarting) void this.#startMissing();
  }

  async #startMissing(): Promise<void> {
    const { signal, clock } = this.#cluster;
    this.#isStarting = true;
    while (this.#running.size < replicas && !signal.aborted) {
      await this.#startOne().catch((error: unknown) => {
        if (signal.aborted) return;
        this.#surprises.push(String(error));
        return sleep(clock, 1000, signal).catch(() => undefined);
      });
    }
    this.#isStarting = false;
  }

  async #startOne(): Promise<void> {
    const { clock, signal } = this.#cluster;
    const controller = await this.#cluster.startController();
    const rival = { controller, identity: await controller.identity(signal) };
    this.#running.set(rival.identity, rival);
    const over = new AbortController();
    void controller.process.child.ended.then((how) => {
      over.abort(new Error(how));
      this.#ended(rival, how);
    });
    controller.process.ready(clock, AbortSignal.any([signal, over.signal])).then(
      () => void this.#ready.add(rival),
      () => undefined,
    );
  }

  #ended(rival: Rival, how: string): void {
    this.#running.delete(rival.identity);
    this.#ready.delete(rival);
    const errors = rival.controller.at('error').map(({ message }) => message);
    if (errors.join() === lossOfLease) this.#lost++;
    else if (!expectedEnds.has(how) || errors.length > 0)
      this.#surprises.push(`${rival.identity} ${how}: ${errors.join()}`);
    this.#replace();
  }
}
