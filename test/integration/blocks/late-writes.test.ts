// A write of a leader that is gone arrives after the next one has listed every object.
import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import { sharedBlocks } from '../../../src/simulator/cluster/block-judge.ts';
import { listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { pools, requested } from './pool-world.ts';

/** How long a write of blocks is on its way, in ms. */
const delay = 26_000;
const never = new AbortController().signal;

const commands = {
  'cluster-pool': { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22' },
  'multi-pool': { ipam: 'multi-pool' },
  nodeipam: { 'cluster-cidr': '10.0.0.0/22' },
} as const;
type Command = keyof typeof commands;

/** Each write of blocks is late: its sender has given it up by then. */
class LateWorld extends BlockWorld {
  isLate = true;
  readonly #command: Command;

  constructor(command: Command) {
    super({
      seed: 'one',
      command: command === 'nodeipam' ? command : 'run',
      // The first leader writes to one object at a time.
      flags: { ...commands[command], 'parallel-alloc-workers': '1' },
      intercept: (_, handler) => async (request, signal) => {
        const givesBlocks = request.method === 'PATCH' && request.body?.includes('"spec"') === true;
        if (!this.isLate || !givesBlocks) return handler(request, signal);
        await sleep(this.clock, delay, never);
        return handler(request, never);
      },
    });
    this.#command = command;
  }

  async begin(): Promise<void> {
    if (this.#command !== 'multi-pool') return;
    const spec = { ipv4: { cidrs: ['10.0.0.0/22'], maskSize: 24 } };
    await this.ask('POST', pools, {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'default' },
      spec,
    });
  }

  async add(name: string): Promise<void> {
    const isNode = this.form === 'Node';
    const spec =
      this.#command === 'multi-pool' ? { ipam: { pools: { requested: requested({ default: 1 }) } } } : {};
    await this.ask('POST', this.path, {
      apiVersion: isNode ? 'v1' : 'cilium.io/v2',
      kind: isNode ? 'Node' : 'CiliumNode',
      metadata: { name },
      spec,
    });
  }

  async held(): Promise<readonly { readonly name: string; readonly inUse: readonly string[] }[]> {
    return (await this.objects()).map((object) => ({
      name: textAt(object, 'metadata', 'name'),
      inUse: [
        ...textsAt(object, 'spec', 'podCIDRs'),
        ...textsAt(object, 'spec', 'ipam', 'podCIDRs'),
        ...listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((entry) => textsAt(entry, 'cidrs')),
      ],
    }));
  }

  async isEachServed(): Promise<boolean> {
    return (await this.held()).every(({ inUse }) => inUse.length > 0);
  }
}

async function withWriteUnderWay(command: Command): Promise<LateWorld> {
  const world = new LateWorld(command);
  await world.begin();
  world.startReplica();
  await world.until('it leads', () => world.leader !== undefined);
  await world.clock.advance(10_000);
  await world.add('a');
  await world.clock.advance(500);
  return world;
}

describe.each(Object.keys(commands) as Command[])('%s', (command) => {
  test('gives no block out twice when a killed leader wrote one that arrives late', async () => {
    const world = await withWriteUnderWay(command);
    world.leader?.process.kill();
    for (const name of ['0', '1', '2']) await world.add(name);
    world.startReplica();
    await world.clock.advance(300_000);

    expect(sharedBlocks(await world.held())).toEqual([]);
    expect(await world.isEachServed()).toBe(true);
    expect(world.bugs).toEqual([]);
  });

  test('gives no block out twice when a leader ends while its write is late, and hands over at once', async () => {
    const world = await withWriteUnderWay(command);
    for (const name of ['0', '1', '2']) await world.add(name);
    world.startReplica();
    await world.clock.advance(1000);
    world.leader?.stop();
    const before = world.clock.monotonic();
    await world.until('another one leads', () => world.leader?.process.identity === 'headwater-1');
    expect(world.clock.monotonic() - before).toBeLessThan(8000);
    await world.clock.advance(300_000);

    expect(sharedBlocks(await world.held())).toEqual([]);
    expect(await world.isEachServed()).toBe(true);
  });

  test('writes each object once after a leader that handed over', async () => {
    const world = new LateWorld(command);
    world.isLate = false;
    await world.begin();
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    world.leader?.stop();
    world.startReplica();
    await world.until('another one leads', () => world.leader?.process.identity === 'headwater-1');
    await world.add('a');
    await world.add('b');
    await world.clock.advance(5000);

    expect(await world.isEachServed()).toBe(true);
    expect(world.writes).toHaveLength(2);
  });
});
