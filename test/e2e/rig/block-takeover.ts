// The common part of moves of nodes with blocks from one allocator to another: two controllers of Headwater of which one leads,
// nodes that join one after the other or in bursts, and a log of who wrote what.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControllerChild } from '../../../rig/controller-child.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockCluster, type BlockClusterOptions } from './block-cluster.ts';
import { WriteLog } from './write-log.ts';

/** By node, as CIDR, or as pool and CIDR. */
export type Blocks = ReadonlyMap<string, readonly string[]>;

/** The other allocator. */
export interface Other {
  readonly stop: () => Promise<void> | void;
  /** A stand-in has no watch: it is shown what changes. */
  readonly see?: StandInBlockOperator['see'];
}

/** How many nodes there are at first, and how many join in a burst. */
export const nodes = 20;
/** The network of all blocks, the addresses that pods can have of a block, and the block of an index. */
export const network = '10.0.0.0/14';
export const usable = 254;
const blockOf = (index: number): string => `10.${index >> 8}.${index & 255}.0/24`;

export function names(prefix: string, count = nodes): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** Starts one. */
export function startBlockOperator(
  cluster: BlockCluster,
  mode: 'cluster-pool' | 'multi-pool',
): StandInBlockOperator {
  const { handler } = cluster.api;
  const operator = new StandInBlockOperator({ clock, handler, mode, blockOf, usable });
  void operator.run(50);
  return operator;
}

/** A cluster of blocks with its log of writes. */
export class BlockTakeover {
  readonly cluster: BlockCluster;
  readonly writes: WriteLog;
  readonly #directory: string;

  private constructor(cluster: BlockCluster, writes: WriteLog, directory: string) {
    this.cluster = cluster;
    this.writes = writes;
    this.#directory = directory;
  }

  static async start(options: BlockClusterOptions): Promise<BlockTakeover> {
    const directory = mkdtempSync(join(tmpdir(), 'block-takeover-'));
    const writes = new WriteLog(directory, options.scope === 'nodeipam' ? 'nodes' : 'ciliumnodes');
    const cluster = await BlockCluster.start({ ...options, apiFlags: writes.flags });
    return new BlockTakeover(cluster, writes, directory);
  }

  /** Resolves once some nodes of a burst have blocks; `end` to the blocks of all, once all have some. */
  async midBurst(prefix: string): Promise<{ readonly end: () => Promise<Blocks> }> {
    const { cluster } = this;
    const before = (await cluster.blocks()).size;
    const created = cluster.each(names(prefix), (name) => cluster.join(name));
    const isServed = ([name, own]: readonly [string, readonly string[]]): boolean =>
      name.startsWith(`${prefix}-`) && own.length > 0;
    await cluster.until(
      'some of the burst have blocks',
      async () => [...(await cluster.blocks())].some(isServed),
      5,
    );
    return {
      end: async () => {
        await created;
        return cluster.served(before + nodes);
      },
    };
  }

  /**
   * Objects come to lack blocks one after the other, beside `other`, until the leader of `pair` has seen it. Several at once might
   * get one block of two allocators, for no API server compares two objects. `change` resolves to the object of that index and
   * its number of blocks to come.
   */
  async untilSeen(
    pair: Pair,
    other: Other,
    change: (index: number) => Promise<{ readonly object: JsonObject; readonly count: number }>,
  ): Promise<void> {
    const { cluster } = this;
    for (let index = 0; index < 200; index++) {
      const taken = [...(await cluster.blocks()).values()]
        .flat()
        .map((block) => block.split(' ').at(-1) ?? '');
      const { object, count } = await change(index);
      await other.see?.(object, taken);
      const name = textAt(object, 'metadata', 'name');
      const isServed = async (): Promise<boolean> => (await cluster.blocks()).get(name)?.length === count;
      await cluster.until(`${name} has ${count} blocks`, isServed, 5);
      if (await pair.isPaused(['conflictingWriter'])) return;
    }
    throw new Error('the other allocator is never seen');
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    rmSync(this.#directory, { recursive: true });
  }
}

interface ShownStatus {
  readonly state?: string;
  readonly paused?: readonly { readonly reason: string }[];
}

/** Two controllers, of which one leads. */
export class Pair {
  readonly #cluster: BlockCluster;
  readonly #flags: readonly string[];
  #running: readonly ControllerChild[] = [];

  constructor(cluster: BlockCluster, flags: readonly string[] = []) {
    this.#cluster = cluster;
    this.#flags = flags;
  }

  /** Starts those that are missing; resolves once one leads. */
  async complete(): Promise<void> {
    while (this.#running.length < 2) await this.#startOne();
    await this.leader();
  }

  /** The one that leads, once it shows this as why it pauses what; without `paused`, whatever it shows. */
  async leader(paused?: readonly string[]): Promise<ControllerChild> {
    let found: ControllerChild | undefined;
    await this.#cluster.until(`one leads, paused by ${paused?.join() ?? 'anything'}`, async () => {
      found = await this.#leading(paused);
      return found !== undefined;
    });
    if (found === undefined) throw new Error('none leads');
    return found;
  }

  /** Whether one leads and shows this now. */
  async isPaused(paused: readonly string[]): Promise<boolean> {
    return (await this.#leading(paused)) !== undefined;
  }

  /** Kills the leader; resolves once the other one leads, and a new one stands by. */
  async killLeader(): Promise<void> {
    const leader = await this.leader();
    await leader.kill();
    await this.complete();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(({ child }) => child.stop()));
  }

  async #leading(paused?: readonly string[]): Promise<ControllerChild | undefined> {
    const shown = await Promise.all(
      this.#running.map(async (controller) => {
        const text = await controller.get('/status').catch(() => '{}');
        return { controller, status: JSON.parse(text) as ShownStatus };
      }),
    );
    const isIt = ({ state, paused: now = [] }: ShownStatus): boolean =>
      state === 'leading' &&
      (paused === undefined || now.map(({ reason }) => reason).join() === paused.join());
    return shown.find(({ status }) => isIt(status))?.controller;
  }

  async #startOne(): Promise<void> {
    const started = await this.#cluster.startController(this.#flags);
    this.#running = [...this.#running, started];
    void started.child.ended.then(() => {
      this.#running = this.#running.filter((each) => each !== started);
    });
  }
}
