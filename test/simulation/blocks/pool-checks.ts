// What must hold in a cluster whose nodes get blocks of pools, besides what holds for every block.
import {
  listedIn,
  type PoolBlock,
  PoolMachine,
  usableOf,
} from '../../../src/simulator/workload/pool-machine.ts';
import { sharedBlocks } from '../../../src/simulator/cluster/block-judge.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockChecks, type Happened } from './block-checks.ts';
import type { EffectiveWrite } from './block-world.ts';

/** A network that only wrong changes of pools have: nothing of it may ever be given out. */
export const wrongNetwork = '10.66.0.0/24';
/** The pool whose network holds those of another one: it may give out what that one does not have, and nobody holds. */
export const coveringPool = 'cover';

export class PoolChecks extends BlockChecks {
  override blocksOf(object: JsonObject): readonly string[] {
    return listedIn(object).map(({ cidr }) => cidr);
  }

  /** Agents give blocks back. */
  protected override mayChange(): boolean {
    return true;
  }

  /** A process only adds, and only what its pool may give. */
  checkWrite({ method, path, before, after }: EffectiveWrite): void {
    if (method !== 'PATCH' || path.endsWith('/status') || before === undefined || after === undefined) return;
    const name = textAt(after, 'metadata', 'name');
    const [had, has] = [listedIn(before), listedIn(after)];
    const lost = had.filter((block) => !isAmong(has, block));
    for (const { pool, cidr } of lost) this.violations.add(`${cidr} of pool ${pool} was taken from ${name}`);
    const added = has.filter((block) => !isAmong(had, block));
    for (const { cidr } of added)
      if (isShared(cidr, wrongNetwork)) this.violations.add(`${cidr} comes from a pool that is wrong`);
  }

  override async checkRest(happened: Happened): Promise<void> {
    const { leader, machines, writes } = this.world;
    if (leader === undefined) {
      this.violations.add('no process leads');
      return;
    }
    const { pools = [] } = leader.controller.status();
    const objects = await this.world.objects();
    for (const machine of machines.values())
      if (machine instanceof PoolMachine) this.#checkServed(machine, pools);
    const shown = objects.flatMap((object) => this.blocksOf(object));
    const remembered = this.rememberedBy(leader.process.identity, objects);
    for (const { pool, cidr, held } of pools) {
      const countOf = (blocks: readonly string[]): number =>
        new Set(blocks.filter((each) => isShared(each, cidr))).size;
      const [min, max] = [countOf(shown), countOf([...shown, ...remembered])];
      if (held < min || held > max)
        this.violations.add(
          `${held} blocks of pool ${pool} in ${cidr} count as held, objects show ${min}, and ${max - min} may be remembered`,
        );
    }
    const max = 4 * (happened.changes + happened.faults) + 80;
    if (writes.length > max)
      this.violations.add(
        `${writes.length} writes follow ${happened.changes} changes and ${happened.faults} faults`,
      );
  }

  #checkServed(
    machine: PoolMachine,
    pools: readonly { readonly pool: string; readonly family: string; readonly free: number }[],
  ): void {
    for (const pool of machine.pods.keys())
      for (const family of ['ipv4', 'ipv6']) {
        const own = machine.held.filter(
          (each) => each.pool === pool && each.cidr.includes(':') === (family === 'ipv6'),
        );
        const usable = own.reduce((sum, { cidr }) => sum + usableOf(cidr), 0);
        const free = pools
          .filter((each) => each.pool === pool && each.family === family)
          .reduce((sum, each) => sum + each.free, 0);
        if (usable < machine.asked(pool) && free > 0)
          this.violations.add(
            `${machine.name} lacks ${family} addresses of pool ${pool}, of which ${free} blocks are free`,
          );
      }
  }
}

function isAmong(blocks: readonly PoolBlock[], { pool, cidr }: PoolBlock): boolean {
  return blocks.some((each) => each.pool === pool && each.cidr === cidr);
}

/** Whether two networks share an address. */
function isShared(a: string, b: string): boolean {
  const two = [
    { name: 'a', inUse: [a] },
    { name: 'b', inUse: [b] },
  ];
  return sharedBlocks(two).length > 0;
}
