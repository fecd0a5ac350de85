// The course of one simulated life in a cluster whose nodes get blocks: things happen and go wrong, then faults stop, and
// everything must come to rest.
import type { SyncMode } from '../../../src/blocks/node-ipam/sync/sync-step.ts';
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { BlockChecks } from './block-checks.ts';
import type { BlockTrouble } from './block-trouble.ts';
import type { BlockWorld } from './block-world.ts';

/** What is played: a command, its mode multi-pool, or an allocator type of nodeipam that follows a cloud. */
export type BlockCommand = OptionCommand | CloudType | 'multi-pool';

/** An allocator type of nodeipam that follows a cloud. */
export type CloudType = SyncMode | 'CloudAllocator';

export interface BlockReport {
  readonly seed: string;
  readonly command: BlockCommand;
  readonly violations: readonly string[];
  /** Writes of processes that took effect. */
  readonly writes: number;
  readonly faults: number;
}

/** In ms. */
export interface LifeTimes {
  /** How long machines and faults go on. */
  readonly stormy: number;
  /** The last part of that, in which no process ends. */
  readonly sparing: number;
  /** How long everything may take to come to rest afterwards. */
  readonly calm: number;
  /** The last part of that, in which nothing may be written. */
  readonly quiet: number;
  /** The longest pause between two changes. */
  readonly maxPause: number;
  /** How often what must always hold is checked. */
  readonly lookInterval: number;
}

export interface BlockLife {
  readonly seed: string;
  readonly command: BlockCommand;
  readonly times: LifeTimes;
  readonly world: BlockWorld;
  readonly checks: Pick<BlockChecks, 'look' | 'checkRest' | 'violations'>;
  readonly trouble: BlockTrouble;
  readonly random: Random;
  /** One change, drawn. */
  readonly happen: () => Promise<void>;
  /** Faults have stopped: passes so many ms, with what people do about the rest of the trouble. */
  readonly settle: (ms: number) => Promise<void>;
  /** How many changes there were. */
  readonly changes: () => number;
}

export async function playLife(life: BlockLife): Promise<BlockReport> {
  const { world, checks, trouble, times, random } = life;
  const { clock } = world;
  trouble.startReplica();
  trouble.startReplica();
  const looking = lookOften(life);
  while (clock.monotonic() < times.stormy) {
    trouble.isSparing = clock.monotonic() > times.stormy - times.sparing;
    await clock.advance(random.integer(times.maxPause));
    await life.happen();
  }
  trouble.end();
  await life.settle(times.calm - times.quiet);
  await checkQuiet(life);
  await looking;
  for (const { process } of world.replicas) process.kill();
  for (const machine of world.machines.values()) machine.stop();
  for (const bug of world.bugs) checks.violations.add(`a bug: ${String(bug)}`);
  return {
    seed: life.seed,
    command: life.command,
    violations: [...checks.violations],
    writes: world.writes.length,
    faults: trouble.count,
  };
}

async function lookOften({ world: { clock }, checks, times }: BlockLife): Promise<void> {
  while (clock.monotonic() < times.stormy + times.calm) {
    await checks.look();
    await sleep(clock, times.lookInterval, new AbortController().signal);
  }
}

async function checkQuiet({ world, checks, trouble, times, changes }: BlockLife): Promise<void> {
  const before = world.writes.length;
  await world.clock.advance(times.quiet);
  if (world.writes.length > before) checks.violations.add('something is written although nothing changes');
  await checks.checkRest({ changes: changes(), faults: trouble.count });
}
