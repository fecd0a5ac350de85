// What goes wrong in a cluster whose nodes get blocks: processes die, freeze and hand over, requests are lost, refused and late,
// watches break and lag, and Nodes vanish for a moment.
import type { Random } from '../../../src/runtime/random.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { ConnectionDropped } from '../../../src/simulator/kubernetes/faults/faults.ts';
import { listAt } from '../../../src/simulator/workload/json.ts';
import type { SimulatedProcess } from '../process.ts';
import type { BlockReplica, BlockWorld } from './block-world.ts';

const lists = /\/(ciliumnodes|nodes)\?(?!watch)/;
const watches = /watch=/;
const nodeWatches = /\/nodes\?.*watch=/;
/** How late Nodes that vanished are seen again, and for how long that goes on, in ms. */
const blinkLag = { delay: 200_000, duration: 180_000 };
/** How late a write may arrive, in ms. */
const longestDelay = 40_000;
/** How long the pods of a node may be read for, in ms. */
const longestLook = 9000;
const unending = new AbortController().signal;

export class BlockTrouble {
  /** How many faults there were. */
  count = 0;
  /** No process ends any more, but requests still fail. */
  isSparing = false;
  readonly #world: BlockWorld;
  readonly #random: Random;
  /** Lets machines join. */
  readonly #burst: () => void;
  #isOver = false;
  /** Until when writes of some objects are late, in monotonic ms. */
  #slowUntil = -Infinity;
  #notBlinkingBefore = 0;

  constructor(world: BlockWorld, random: Random, burst: () => void) {
    this.#world = world;
    this.#random = random;
    this.#burst = burst;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing goes wrong any more. */
  end(): void {
    this.#isOver = true;
    this.#world.model.faults.clear();
    for (const { process } of this.#world.replicas) process.thaw();
  }

  /** Requests of a process may be lost, refused or late. Some arrive long after their time limit, when another process may lead. */
  intercept(process: SimulatedProcess, handler: KubernetesHandler): KubernetesHandler {
    const { clock } = this.#world;
    const random = this.#world.random.fork(`wire of ${process.identity}`);
    const belated = this.#world.random.fork(`belated writes of ${process.identity}`);
    return async (request, signal) => {
      const isWrite = request.method === 'PATCH' || request.method === 'DELETE';
      if (this.#isOver || !isWrite || !/\/(ciliumnodes|nodes)\//.test(request.url))
        return handler(request, signal);
      if (belated.chance(this.#isSlow(request.url) ? 0.8 : 0.1)) {
        this.count++;
        await sleep(clock, belated.integer(longestDelay), unending);
        return handler(request, unending);
      }
      if (random.chance(0.6)) return handler(request, signal);
      this.count++;
      const status = random.pick([403, 409, 429, 500, 503]);
      const fates = [
        () => Promise.reject(new ConnectionDropped()),
        async () => {
          await handler(request, signal);
          throw new ConnectionDropped();
        },
        async () => {
          await sleep(clock, random.integer(4500), unending);
          return handler(request, signal);
        },
        () => {
          // It arrives although the connection broke.
          void sleep(clock, random.integer(4000), unending).then(() => handler(request, unending));
          return Promise.reject(new ConnectionDropped());
        },
        () =>
          Promise.resolve({
            status,
            headers: {},
            body: JSON.stringify({ kind: 'Status', status: 'Failure', code: status, message: 'a fault' }),
          }),
      ];
      return random.pick(fates)();
    };
  }

  /** Reading the pods of a node may take long, too. */
  slowLooks(process: SimulatedProcess, handler: KubernetesHandler): KubernetesHandler {
    const random = this.#world.random.fork(`looks of ${process.identity}`);
    return async (request, signal) => {
      const isLook = request.method === 'GET' && request.url.startsWith('/api/v1/pods?');
      if (isLook && !this.#isOver && random.chance(0.5))
        await sleep(this.#world.clock, random.integer(longestLook), signal);
      return handler(request, signal);
    };
  }

  /** A process that ends is started again, as Kubernetes does. */
  startReplica(): void {
    const { process, outcome } = this.#world.startReplica();
    const again = (): void => {
      if (!process.isDead) this.#kill(process);
    };
    outcome.then(again, again);
  }

  /** One fault, drawn. */
  disturb(): void {
    const alive = this.#world.replicas.filter(({ process }) => !process.isDead);
    if (alive.length === 0) return;
    this.count++;
    const { faults } = this.#world.model;
    const kinds = [
      () => this.#end(this.#random.pick(alive)),
      () => this.#freeze(this.#random.pick(alive)),
      () => this.#handOver(),
      () => this.#killWhileWriting(),
      () => this.#blink(),
      () => void faults.cutWatches(),
      () => {
        faults.expireHistory();
        faults.closeWatches();
      },
      () => {
        faults.inject({ path: lists, times: 3, effect: { kind: 'emptyList' } });
        faults.expireHistory();
        faults.cutWatches();
      },
      () => this.#lag(watches, this.#random.integer(8000), 60_000),
    ];
    this.#random.pick(kinds)();
  }

  /** In the middle of a burst, when young objects may have blocks and old ones none yet. */
  endLeaderSoon(): void {
    this.count++;
    this.#world.clock.schedule(200 + this.#random.integer(3000), () => {
      const { leader } = this.#world;
      if (leader !== undefined) this.#end(leader);
    });
  }

  /** A crash, or the orderly end that hands the Lease over at once. */
  #end(replica: BlockReplica): void {
    if (this.#isOver || this.isSparing) return;
    if (this.#random.chance(0.5)) this.#kill(replica.process);
    else replica.stop();
  }

  /** The standby learns of the last writes of the leader only after it leads itself. */
  #handOver(): void {
    this.#lag(watches, 20_000 + this.#random.integer(20_000), 60_000);
    this.#burst();
    this.endLeaderSoon();
  }

  /** Writes of some objects are under way for long: one of the next leader to another object may overtake them. */
  #killWhileWriting(): void {
    const { clock } = this.#world;
    if (this.isSparing) return;
    this.#slowUntil = clock.monotonic() + 60_000;
    this.#burst();
    clock.schedule(1000 + this.#random.integer(4000), () => {
      const { leader } = this.#world;
      if (leader !== undefined && !this.#isOver && !this.isSparing) this.#kill(leader.process);
    });
  }

  #isSlow(url: string): boolean {
    return this.#world.clock.monotonic() < this.#slowUntil && /[02468]\b/.test(url);
  }

  /** It goes on where it stood, when others may have joined. */
  #freeze(replica: BlockReplica): void {
    const { process } = replica;
    this.#burst();
    // It would lose its Lease.
    if (this.isSparing) return;
    process.freeze();
    this.#world.clock.schedule(1000 + this.#random.integer(60_000), () => {
      if (!this.#isOver && this.#random.chance(0.7)) this.#burst();
      process.thaw();
    });
  }

  /** Somebody deletes the Node of a machine that lives, and its kubelet registers again; who watches Nodes may hear of it late. */
  #blink(): void {
    const { clock, form } = this.#world;
    if (form === 'Node' || clock.monotonic() < this.#notBlinkingBefore) return;
    if (this.#random.chance(0.5)) {
      this.#lag(nodeWatches, blinkLag.delay, blinkLag.duration);
      // A Node that is away twice, while nobody hears that it was there in between, is away for good.
      this.#notBlinkingBefore = clock.monotonic() + blinkLag.delay + blinkLag.duration;
    }
    void this.#deleteNodes().then((names) => {
      clock.schedule(1000 + this.#random.integer(40_000), () => {
        for (const name of names) void this.#register(name);
      });
    });
  }

  /** Only Nodes that own nothing: Kubernetes itself deletes what they own. */
  async #deleteNodes(): Promise<readonly string[]> {
    const deleted: string[] = [];
    const { machines, path } = this.#world;
    for (const [name, { inUse }] of machines) {
      if (inUse.length === 0 || this.#random.chance(0.5)) continue;
      const own = await this.#world.ask('GET', `${path}/${name}`);
      if (listAt(own, 'metadata', 'ownerReferences').length > 0) continue;
      await this.#world.ask('DELETE', `/api/v1/nodes/${name}`);
      deleted.push(name);
    }
    return deleted;
  }

  async #register(name: string): Promise<void> {
    if (!this.#world.machines.has(name)) return;
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} };
    await this.#world.ask('POST', '/api/v1/nodes', node);
  }

  /** Events of these watches arrive late, for so long. */
  #lag(path: RegExp, ms: number, forMs: number): void {
    const { model, clock } = this.#world;
    clock.schedule(
      forMs,
      model.faults.inject({ path, times: Infinity, effect: { kind: 'delayEvents', ms } }),
    );
  }

  /** The API server may show nothing to the first lists of the process that follows. */
  #kill(process: SimulatedProcess): void {
    const { model, clock } = this.#world;
    process.kill();
    if (!this.#isOver && this.#random.chance(0.3))
      model.faults.inject({
        path: lists,
        times: 1 + this.#random.integer(3),
        effect: { kind: 'emptyList' },
      });
    clock.schedule(this.#random.integer(20_000), () => this.startReplica());
  }
}
