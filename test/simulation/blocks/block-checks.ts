// What must hold in a cluster whose nodes get blocks: at each look, at each deletion, and at rest.
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import { sharedBlocks, type SharedBlock } from '../../../src/simulator/cluster/block-judge.ts';
import { type JsonObject, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { BlockReplica, BlockWorld, EffectiveWrite } from './block-world.ts';

/** Blocks of each family. */
export const capacity = 16;

/** How long a process may not know of what an administrator restored, in ms. */
const longestLag = 120_000;

/** What the run counted. */
export interface Happened {
  readonly changes: number;
  readonly faults: number;
}

export class BlockChecks {
  readonly violations = new Set<string>();
  readonly #world: BlockWorld;
  readonly #place: readonly string[];
  /** Blocks of each object at the last look, by uid. */
  #before = new Map<string, readonly string[]>();
  /** When an administrator gave an object an old block, by name. */
  readonly #restored = new Map<string, number>();
  #restoredAll = -Infinity;
  /** Processes that may remember a block which an administrator took from its object: for them it stays held. */
  #remembering: ReadonlySet<string> = new Set();
  /** What is shared now was shared in the backup. */
  #isFirstLook = false;
  /** Pairs that share a block because of that. */
  #excused = new Set<string>();

  constructor(world: BlockWorld, command: OptionCommand) {
    this.#world = world;
    this.#place = command === 'nodeipam' ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
  }

  /** An administrator brought an object back with the block that it had once. */
  noteRestored(name: string): void {
    this.#restored.set(name, this.#world.clock.monotonic());
  }

  /** An administrator brought everything back as it was once. */
  noteEverythingRestored(): void {
    this.#restoredAll = this.#world.clock.monotonic();
    this.#before = new Map();
    this.#remembering = new Set(this.#world.replicas.map(({ process }) => process.identity));
    this.#isFirstLook = true;
  }

  blocksOf(object: JsonObject): readonly string[] {
    return textsAt(object, ...this.#place);
  }

  async look(): Promise<void> {
    const before = this.#before;
    const objects = await this.#world.objects();
    if (before !== this.#before) return;
    this.#before = new Map();
    const holders = objects.map((object) => {
      const name = textAt(object, 'metadata', 'name');
      const uid = textAt(object, 'metadata', 'uid');
      const inUse = this.blocksOf(object);
      const earlier = before.get(uid) ?? [];
      if (earlier.some((block) => !inUse.includes(block)))
        this.violations.add(
          `the block of a living object changed: ${name}, ${earlier.join()} to ${inUse.join()}`,
        );
      this.#before.set(uid, inUse);
      return { name, inUse };
    });
    const shared = [...sharedBlocks(holders), ...sharedBlocks(this.#world.machines.values())];
    const excused = new Set(shared.filter((each) => this.#isExcused(each)).map(keyOf));
    for (const each of shared)
      if (!excused.has(keyOf(each))) this.violations.add(`by our doing, ${each.text}`);
    this.#excused = excused;
    this.#isFirstLook = false;
  }

  /** A block may be shared with one that an administrator brought back, by whom who got it before that could be known. */
  #isExcused({ names, ...shared }: SharedBlock): boolean {
    const since = this.#world.clock.monotonic() - longestLag;
    const isNew = names.some((name) => (this.#restored.get(name) ?? -Infinity) > since);
    return isNew || this.#isFirstLook || this.#excused.has(keyOf({ names, ...shared }));
  }

  /** A CiliumNode is deleted only if its Node is gone. */
  checkDeletion({ method, path }: EffectiveWrite): void {
    if (method !== 'DELETE') return;
    const name = path.split('/').at(-1) ?? '';
    if (this.#world.machines.has(name))
      this.violations.add(`the CiliumNode of a living machine was deleted: ${name}`);
  }

  /** Only who has the Lease writes. After etcd was restored, nobody can know that for a while. */
  checkSender(identity: string, url: string): void {
    const { leaseHolder, clock } = this.#world;
    const isNew = clock.monotonic() < this.#restoredAll + longestLag;
    if (leaseHolder !== undefined && leaseHolder !== identity && !isNew)
      this.violations.add(`${identity} writes while ${leaseHolder} has the Lease: ${url}`);
  }

  async checkRest({ changes, faults }: Happened): Promise<void> {
    const { leader, machines, writes } = this.#world;
    if (leader === undefined) {
      this.violations.add('no process leads');
      return;
    }
    const objects = await this.#world.objects();
    const shown = this.#checkCounts(objects, leader);
    const waiting = [...machines.values()].filter(({ inUse }) => inUse.length === 0).length;
    if (waiting > 0 && shown.ipv4 < capacity && shown.ipv6 < capacity)
      this.violations.add(
        `${waiting} machines wait, although only ${shown.ipv4} and ${shown.ipv6} of ${capacity} blocks are held`,
      );
    const gone = objects.map((object) => textAt(object, 'metadata', 'name'));
    const left = gone.filter((name) => name !== 'half' && !machines.has(name));
    if (left.length > 0) this.violations.add(`${left.length} objects of machines that are gone are left`);
    const most = 3 * (changes + faults) + 50;
    if (writes.length > most)
      this.violations.add(`${writes.length} writes follow ${changes} changes and ${faults} faults`);
  }

  /** No block counts as held that no object shows, and none is missing. */
  #checkCounts(
    objects: readonly JsonObject[],
    { controller, process }: BlockReplica,
  ): Readonly<Record<'ipv4' | 'ipv6', number>> {
    const { pools = [] } = controller.status();
    const mayRemember = this.#remembering.has(process.identity);
    const shown = { ipv4: 0, ipv6: 0 };
    for (const family of ['ipv4', 'ipv6'] as const) {
      const known = pools.filter((pool) => pool.family === family).reduce((sum, { held }) => sum + held, 0);
      const blocks = objects.flatMap((object) => this.blocksOf(object));
      shown[family] = new Set(blocks.filter((block) => block.includes(':') === (family === 'ipv6'))).size;
      if (known < shown[family] || (known > shown[family] && !mayRemember))
        this.violations.add(`${known} ${family} blocks count as held, and objects show ${shown[family]}`);
    }
    return shown;
  }
}

function keyOf({ names }: SharedBlock): string {
  return names.toSorted().join(' ');
}
