// How long our set of blocks takes for one allocation, in nanoseconds, and what it keeps for each block. Measured as
// test/e2e/servers/kube-apiserver/cidr-set measures the CIDR set of Kubernetes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BlockSet } from '../../src/blocks/set/block-set.ts';
import { parseCidr } from '../../src/blocks/set/cidr.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';

export interface SetSpeed {
  readonly emptyToFull: number;
  /** One block in a hundred is free. */
  readonly nearlyFull: number;
  /** The only free block is a whole lap away. */
  readonly farAway: number;
  readonly bytesEach: number;
}

const capacity = 2 ** 16;
const rounds = 20;
const oneFreeIn = 100;
const kept = 50;

export function setSpeed(clock: Clock): SetSpeed {
  // Before there is garbage of other sets.
  const bytes = bytesEach();
  const random = new Random('set');
  let [emptyToFull, nearlyFull, farAway] = [Infinity, Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    const set = newSet();
    emptyToFull = Math.min(emptyToFull, timeOf(clock, set, capacity));
    const free = Math.floor(capacity / oneFreeIn);
    const order = Array.from({ length: capacity }, (_, index) => index);
    for (let index = 0; index < free; index++) {
      const other = index + random.integer(capacity - index);
      [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
      set.free(order[index] ?? 0);
    }
    nearlyFull = Math.min(nearlyFull, timeOf(clock, set, free));
    farAway = Math.min(farAway, farTime(clock));
  }
  return { emptyToFull, nearlyFull, farAway, bytesEach: bytes };
}

/** An allocation, and the block as it is written into an object, in nanoseconds. */
function timeOf(clock: Clock, set: BlockSet, count: number): number {
  let last = 0n;
  const begin = clock.monotonic();
  for (let index = 0; index < count; index++) {
    const allocation = set.allocate();
    if (allocation === undefined) throw new Error('the set is full too early');
    last = set.blockAt(allocation.index).base;
  }
  const time = clock.monotonic() - begin;
  if (last === 0n) throw new Error('a block has no address');
  return (time * 1e6) / count;
}

/** One allocation is too short for the clock: many sets in the same state. */
function farTime(clock: Clock): number {
  const sets = Array.from({ length: kept }, () => {
    const set = newSet();
    for (let index = 0; index < capacity; index++) set.allocate();
    set.free(capacity - 1);
    return set;
  });
  const begin = clock.monotonic();
  for (const set of sets) timeOf(clock, set, 1);
  return ((clock.monotonic() - begin) * 1e6) / sets.length;
}

function newSet(): BlockSet {
  const cluster = parseCidr('10.0.0.0/8');
  if (cluster.kind !== 'cidr') throw new Error(cluster.why);
  return new BlockSet(cluster.cidr, 24);
}

function bytesEach(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const bytes = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = bytes();
  const sets = Array.from({ length: kept }, () => {
    const set = newSet();
    for (let index = 0; index < capacity; index += 2) set.take(index);
    return set;
  });
  const after = bytes();
  return (after - before) / (sets.length * capacity);
}
