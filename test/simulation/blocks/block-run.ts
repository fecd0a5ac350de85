// One simulated life of a cluster whose nodes get blocks: machines come, go and are replaced, processes are killed and frozen,
// requests are lost, refused and late, watches break, and administrators bring back what was there before. At the end faults
// stop, and everything must come to rest.
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { BlockBackups } from './block-backups.ts';
import { BlockChecks, capacity, usualMaskSizes } from './block-checks.ts';
import { type BlockReport, type LifeTimes, playLife } from './block-life.ts';
import { BlockTrouble } from './block-trouble.ts';
import { BlockWorld } from './block-world.ts';

const minute = 60_000;
const times: LifeTimes = {
  stormy: 25 * minute,
  sparing: 5 * minute,
  calm: 15 * minute,
  quiet: 5 * minute,
  maxPause: 20_000,
  lookInterval: 500,
};

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

/** Blocks that were given out before the first process of Headwater, in the order of an allocator that begins anew. */
const earlier = {
  run: (index: number) => [`10.0.${index}.0/24`, `fd00::${index === 0 ? '' : `${index}:`}0/112`],
  nodeipam: (index: number) => [`10.0.${index}.0/24`, `fd00:0:0:${index}::/64`],
} as const;

/** Names of machines whose objects are deleted long before they are gone. */
const slow = 'slow-';

/** Plays one seed. */
export function playBlocks(seed: string, command: OptionCommand): Promise<BlockReport> {
  return new BlockRun(seed, command).play();
}

class BlockRun {
  readonly #seed: string;
  readonly #command: OptionCommand;
  readonly #world: BlockWorld;
  readonly #random: Random;
  readonly #checks: BlockChecks;
  readonly #trouble: BlockTrouble;
  readonly #backups: BlockBackups;
  #joined = 0;
  #changes = 0;

  constructor(seed: string, command: OptionCommand) {
    this.#seed = seed;
    this.#command = command;
    const world: BlockWorld = new BlockWorld({
      seed,
      command,
      flags: flags[command],
      intercept: (process, handler) => this.#trouble.intercept(process, handler),
    });
    this.#world = world;
    this.#random = world.random.fork('life');
    this.#checks = new BlockChecks(world, command);
    this.#backups = new BlockBackups(world, this.#checks, world.random.fork('backups'));
    this.#trouble = new BlockTrouble(world, world.random.fork('trouble'), () => this.#join());
    world.onSend = (identity, request) => this.#checks.checkSender(identity, request);
    world.onWrite = (write) => {
      this.#checks.checkDeletion(write);
      this.#checks.checkSize(write);
    };
  }

  async play(): Promise<BlockReport> {
    await this.#populate();
    return playLife({
      seed: this.#seed,
      command: this.#command,
      times,
      world: this.#world,
      checks: this.#checks,
      trouble: this.#trouble,
      random: this.#random,
      happen: () => this.#happen(),
      settle: (ms) => this.#world.clock.advance(ms),
      changes: () => this.#changes,
    });
  }

  /** What another allocator left: a half of a block, and an old machine that waits while younger ones have blocks. */
  async #populate(): Promise<void> {
    const isNode = this.#command === 'nodeipam';
    const specOf = (blocks: readonly string[]) =>
      isNode ? { podCIDR: blocks[0] ?? '', podCIDRs: blocks } : { ipam: { podCIDRs: blocks } };
    if (this.#random.chance(0.5))
      await this.#world.ask('POST', this.#world.path, {
        apiVersion: isNode ? 'v1' : 'cilium.io/v2',
        kind: isNode ? 'Node' : 'CiliumNode',
        metadata: { name: 'half', annotations: { 'ipam.cilium.io/ignore': 'true' } },
        spec: specOf(['10.0.3.128/25']),
      });
    if (this.#random.chance(0.3)) return;
    this.#world.join('early-waiting', this.#random.chance(0.3));
    await this.#world.clock.advance(2000);
    for (let index = 0; index < 3; index++) {
      this.#world.join(`early-${index}`, this.#random.chance(0.3));
      await this.#world.clock.advance(1000);
      const spec = specOf(earlier[this.#command](index));
      await this.#world.ask('PATCH', `${this.#world.path}/early-${index}`, { spec });
    }
  }

  async #happen(): Promise<void> {
    const random = this.#random;
    const names = [...this.#world.machines.keys()].filter((name) => !name.startsWith(slow));
    const what = random.integer(16);
    if (what < 4 || names.length < 4) {
      this.#join();
      if (random.chance(0.25)) this.#trouble.endLeaderSoon();
    } else if (what < 6) await this.#leave(random.pick(names));
    else if (what < 7) await this.#replace(random.pick(names));
    else if (what < 8) void this.#world.machines.get(random.pick(names))?.restart();
    else if (what < 10) await this.#bringBack();
    else if (what < 12) await this.#changeOne(random.pick(names));
    else this.#trouble.disturb();
  }

  /** Up to four machines at once. */
  #join(): void {
    const world = this.#world;
    for (let more = this.#random.integer(4); more >= 0 && world.machines.size < capacity + 4; more--) {
      const name = `node-${this.#joined++ % 24}-${this.#joined % 3}`;
      if (world.machines.has(name)) continue;
      world.join(name, this.#random.chance(0.3), this.#labels());
      this.#changes++;
    }
  }

  /** Some Nodes ask for bigger blocks, and few of them for what cannot be. */
  #labels(): Readonly<Record<string, string>> {
    if (!this.#random.chance(0.25)) return {};
    const usual = usualMaskSizes(this.#command);
    const family = this.#random.pick(['ipv4', 'ipv6'] as const);
    const value = this.#random.chance(0.1) ? 'large' : String(usual[family] - this.#random.integer(3));
    return { [`headwater/${family}-mask-size`]: value };
  }

  async #changeOne(name: string): Promise<void> {
    if (this.#random.chance(0.5)) await this.#leaveSlowly();
    else await this.#label(name);
  }

  /** Somebody labels a Node whose machine has its block. */
  async #label(name: string): Promise<void> {
    if ((this.#world.machines.get(name)?.inUse.length ?? 0) === 0) return;
    await this.#world.ask('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels: this.#labels() } });
  }

  async #leave(name: string): Promise<void> {
    const machine = this.#world.machines.get(name);
    const leaves = this.#command === 'run' && machine?.isOwned === false && this.#random.chance(0.5);
    this.#changes++;
    await this.#world.leave(name, leaves);
  }

  /** Its object is deleted while its pods still run, and a finalizer keeps it until they are gone. */
  async #leaveSlowly(): Promise<void> {
    const { machines, path, clock } = this.#world;
    const name = `${slow}${this.#changes}`;
    if (machines.size >= capacity) return;
    this.#changes += 3;
    this.#world.join(name);
    await clock.advance(10_000);
    const metadata = { finalizers: ['example.com/drain'] };
    await this.#world.ask('PATCH', `${path}/${name}`, { metadata });
    await this.#world.ask('DELETE', `${path}/${name}`);
    clock.schedule(90_000, () => {
      void this.#world.leave(name).then(() => this.#world.endDeletion(name));
    });
  }

  async #replace(name: string): Promise<void> {
    await this.#leave(name);
    this.#world.join(name, this.#random.chance(0.3), this.#labels());
    this.#changes++;
  }

  async #bringBack(): Promise<void> {
    const what = this.#random.integer(8);
    if (what < 4) await this.#backups.keep();
    else if (what < 7 || this.#trouble.isSparing) await this.#backups.restoreOne();
    else {
      await this.#backups.restoreEverything();
      this.#changes += this.#world.machines.size;
    }
    this.#changes++;
  }
}
