// One simulated life of a cluster whose nodes get blocks: machines come, go and are replaced, processes are killed and frozen,
// requests are lost, refused and late, watches break. At the end faults stop, and everything must come to rest.
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { sharedBlocks } from '../../../src/simulator/cluster/block-judge.ts';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { ConnectionDropped } from '../../../src/simulator/kubernetes/faults/faults.ts';
import { textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { SimulatedProcess } from '../process.ts';
import { BlockWorld, type EffectiveWrite } from './block-world.ts';

export interface BlockReport {
  readonly seed: string;
  readonly command: OptionCommand;
  readonly violations: readonly string[];
  /** Writes of processes that took effect. */
  readonly writes: number;
  readonly faults: number;
}

const minute = 60_000;
/** How long machines and faults go on, and how long everything may take to come to rest afterwards, in ms. */
const life = { stormy: 25 * minute, calm: 15 * minute, quiet: 5 * minute };
/** Blocks of each family. */
const capacity = 16;

const flags = {
  run: {
    ipam: 'cluster-pool',
    'cluster-pool-ipv4-cidr': '10.0.0.0/21,10.1.0.0/21',
    'cluster-pool-ipv6-cidr': 'fd00::/108',
    'nodes-gc-interval': '1m',
    'parallel-alloc-workers': '3',
  },
  nodeipam: { 'cluster-cidr': '10.0.0.0/20,fd00::/60', 'parallel-alloc-workers': '3' },
} as const;

/** Plays one seed. */
export function playBlocks(seed: string, command: OptionCommand): Promise<BlockReport> {
  return new BlockRun(seed, command).play();
}

class BlockRun {
  readonly #seed: string;
  readonly #command: OptionCommand;
  readonly #world: BlockWorld;
  readonly #random: Random;
  readonly #violations = new Set<string>();
  /** Blocks of each object at the last look, by uid. */
  readonly #before = new Map<string, readonly string[]>();
  #isStormy = true;
  #faults = 0;
  #joined = 0;
  #changes = 0;

  constructor(seed: string, command: OptionCommand) {
    this.#seed = seed;
    this.#command = command;
    this.#world = new BlockWorld({
      seed,
      command,
      flags: flags[command],
      intercept: (process, handler) => this.#unreliable(process, handler),
    });
    this.#random = this.#world.random.fork('life');
    this.#world.onWrite = (write) => this.#checkDeletion(write);
  }

  async play(): Promise<BlockReport> {
    const world = this.#world;
    await this.#populate();
    this.#startReplica();
    this.#startReplica();
    const { clock } = world;
    const looking = this.#lookOften();
    while (clock.monotonic() < life.stormy) {
      await clock.advance(this.#random.integer(20_000));
      await this.#happen();
    }
    await this.#comeToRest();
    await looking;
    for (const replica of world.replicas) replica.process.kill();
    for (const machine of world.machines.values()) machine.stop();
    for (const bug of world.bugs) this.#violations.add(`a bug: ${String(bug)}`);
    return {
      seed: this.#seed,
      command: this.#command,
      violations: [...this.#violations],
      writes: world.writes.length,
      faults: this.#faults,
    };
  }

  /** Objects from before: two that share a part of a block, and one of a half. */
  async #populate(): Promise<void> {
    if (!this.#random.chance(0.5)) return;
    const isNode = this.#command === 'nodeipam';
    const blocks = ['10.0.3.128/25'];
    const spec = isNode ? { podCIDR: blocks[0] ?? '', podCIDRs: blocks } : { ipam: { podCIDRs: blocks } };
    await this.#world.ask('POST', this.#world.path, {
      apiVersion: isNode ? 'v1' : 'cilium.io/v2',
      kind: isNode ? 'Node' : 'CiliumNode',
      metadata: { name: 'half', annotations: { 'ipam.cilium.io/ignore': 'true' } },
      spec,
    });
  }

  async #happen(): Promise<void> {
    const world = this.#world;
    const random = this.#random;
    const names = [...world.machines.keys()];
    const what = random.integer(12);
    if (what < 4 || names.length < 4) {
      for (let more = random.integer(4); more >= 0 && world.machines.size < capacity + 4; more--) {
        world.join(`node-${this.#joined++ % 24}-${this.#joined % 3}`, random.chance(0.3));
        this.#changes++;
      }
      if (random.chance(0.25)) this.#endLeaderSoon();
    } else if (what < 6) await this.#leave(random.pick(names));
    else if (what < 7) {
      const name = random.pick(names);
      await this.#leave(name);
      world.join(name, random.chance(0.3));
      this.#changes++;
    } else if (what < 8) void world.machines.get(random.pick(names))?.restart();
    else this.#disturb();
  }

  async #leave(name: string): Promise<void> {
    const machine = this.#world.machines.get(name);
    const leaves = this.#command === 'run' && machine?.isOwned === false && this.#random.chance(0.5);
    this.#changes++;
    await this.#world.leave(name, leaves);
  }

  /** A fault of a process or of its watches. */
  #disturb(): void {
    const { model, clock } = this.#world;
    const random = this.#random;
    const alive = this.#world.replicas.filter(({ process }) => !process.isDead);
    if (alive.length === 0) return;
    const { process } = random.pick(alive);
    this.#faults++;
    const kinds = [
      () => this.#kill(process),
      () => {
        process.freeze();
        clock.schedule(1000 + random.integer(60_000), () => process.thaw());
      },
      () => void model.faults.cutWatches(),
      () => {
        model.faults.expireHistory();
        model.faults.closeWatches();
      },
      () => {
        model.faults.inject({
          path: /\/(ciliumnodes|nodes)\?(?!watch)/,
          times: 3,
          effect: { kind: 'emptyList' },
        });
        model.faults.expireHistory();
        model.faults.cutWatches();
      },
      () =>
        void model.faults.inject({
          path: /watch=/,
          times: 20,
          effect: { kind: 'delayEvents', ms: random.integer(8000) },
        }),
    ];
    random.pick(kinds)();
  }

  /** A process that ends is started again, as Kubernetes does. */
  #startReplica(): void {
    const { process, outcome } = this.#world.startReplica();
    const again = (): void => {
      if (!process.isDead) this.#kill(process);
    };
    outcome.then(again, again);
  }

  /** In the middle of a burst, when young objects may have blocks and old ones none yet. */
  #endLeaderSoon(): void {
    this.#faults++;
    this.#world.clock.schedule(200 + this.#random.integer(3000), () => {
      const { leader } = this.#world;
      if (leader !== undefined && this.#isStormy) this.#kill(leader.process);
    });
  }

  /** The API server may show nothing to the first lists of the process that follows. */
  #kill(process: SimulatedProcess): void {
    process.kill();
    if (this.#isStormy && this.#random.chance(0.3))
      this.#world.model.faults.inject({
        path: /\/(ciliumnodes|nodes)\?(?!watch)/,
        times: 1 + this.#random.integer(3),
        effect: { kind: 'emptyList' },
      });
    this.#world.clock.schedule(this.#random.integer(20_000), () => this.#startReplica());
  }

  /** Requests of a process may be lost, refused or late. A late one still arrives within its time limit. */
  #unreliable(process: SimulatedProcess, handler: KubernetesHandler): KubernetesHandler {
    const random = this.#world.random.fork(`wire of ${process.identity}`);
    return async (request, signal) => {
      const isWrite = request.method === 'PATCH' || request.method === 'DELETE';
      if (!this.#isStormy || !isWrite || !/\/(ciliumnodes|nodes)\//.test(request.url) || random.chance(0.6))
        return handler(request, signal);
      this.#faults++;
      const status = random.pick([403, 409, 429, 500, 503]);
      const fates = [
        () => Promise.reject(new ConnectionDropped()),
        async () => {
          await handler(request, signal);
          throw new ConnectionDropped();
        },
        async () => {
          await sleep(this.#world.clock, random.integer(4500), new AbortController().signal);
          return handler(request, signal);
        },
        () => {
          // It arrives although the connection broke.
          void sleep(this.#world.clock, random.integer(4000), new AbortController().signal).then(() =>
            handler(request, new AbortController().signal),
          );
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

  async #lookOften(): Promise<void> {
    const { clock } = this.#world;
    while (clock.monotonic() < life.stormy + life.calm) {
      await this.#look();
      await sleep(clock, 500, new AbortController().signal);
    }
  }

  async #look(): Promise<void> {
    for (const shared of sharedBlocks(this.#world.machines.values())) this.#violations.add(shared);
    const seen = new Set<string>();
    const objects = [];
    for (const object of await this.#world.objects()) {
      const place = this.#command === 'nodeipam' ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
      const name = textAt(object, 'metadata', 'name');
      const uid = textAt(object, 'metadata', 'uid');
      const inUse = textsAt(object, ...place);
      const before = this.#before.get(uid) ?? [];
      if (before.some((block) => !inUse.includes(block)))
        this.#violations.add(
          `the block of a living object changed: ${name}, ${before.join()} to ${inUse.join()}`,
        );
      this.#before.set(uid, inUse);
      seen.add(uid);
      objects.push({ name, inUse });
    }
    for (const shared of sharedBlocks(objects)) this.#violations.add(`by our doing, ${shared}`);
    for (const uid of this.#before.keys()) if (!seen.has(uid)) this.#before.delete(uid);
  }

  /** A CiliumNode is deleted only if its Node is gone. */
  #checkDeletion({ method, path }: EffectiveWrite): void {
    if (method !== 'DELETE') return;
    const name = path.split('/').at(-1) ?? '';
    if (this.#world.machines.has(name))
      this.#violations.add(`the CiliumNode of a living machine was deleted: ${name}`);
  }

  async #comeToRest(): Promise<void> {
    const world = this.#world;
    this.#isStormy = false;
    world.model.faults.clear();
    for (const { process } of world.replicas) process.thaw();
    await world.clock.advance(life.calm - life.quiet);
    const before = world.writes.length;
    await world.clock.advance(life.quiet);
    if (world.writes.length > before) this.#violations.add('something is written although nothing changes');
    await this.#checkRest();
  }

  async #checkRest(): Promise<void> {
    const world = this.#world;
    const objects = await world.objects();
    const place = this.#command === 'nodeipam' ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
    const held = objects.filter((object) => textsAt(object, ...place).length > 0).length;
    const { leader } = world;
    if (leader === undefined) {
      this.#violations.add('no process leads');
      return;
    }
    const { pools = [] } = leader.controller.status();
    for (const family of ['ipv4', 'ipv6'] as const) {
      const known = pools.filter((pool) => pool.family === family).reduce((sum, pool) => sum + pool.held, 0);
      const shown = objects.flatMap((object) =>
        textsAt(object, ...place).filter((block) => block.includes(':') === (family === 'ipv6')),
      ).length;
      if (known !== shown)
        this.#violations.add(`${known} ${family} blocks count as held, and objects show ${shown}`);
    }
    const waiting = [...world.machines.values()].filter(({ inUse }) => inUse.length === 0).length;
    if (waiting > 0 && held < capacity)
      this.#violations.add(`${waiting} machines wait, although only ${held} of ${capacity} blocks are held`);
    const gone = objects.filter((object) => {
      const name = textAt(object, 'metadata', 'name');
      return name !== 'half' && !world.machines.has(name);
    });
    if (gone.length > 0) this.#violations.add(`${gone.length} objects of machines that are gone are left`);
    const most = 3 * (this.#changes + this.#faults) + 50;
    if (world.writes.length > most)
      this.#violations.add(
        `${world.writes.length} writes follow ${this.#changes} changes and ${this.#faults} faults`,
      );
  }
}
