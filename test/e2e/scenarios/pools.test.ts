// Blocks of pools on a real API server: what agents ask for, a pool that changes in the middle of a burst, the kill of a leader,
// and nothing but the roles of the chart.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockCluster } from '../rig/block-cluster.ts';

const count = 1000;

function names(prefix: string, many: number): readonly string[] {
  return Array.from({ length: many }, (_, index) => `${prefix}-${index}`);
}

function expectApart(blocks: ReadonlyMap<string, readonly string[]>, each: number): void {
  const cidrs = [...blocks.values()].flat().map((block) => block.split(' ')[1]);
  expect(new Set(cidrs).size).toBe(cidrs.length);
  expect([...blocks.values()].filter((own) => own.length !== each)).toEqual([]);
}

describe('blocks of pools', () => {
  let cluster: BlockCluster;

  beforeAll(async () => {
    cluster = await BlockCluster.start({ scope: 'multi-pool', flags: [] });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  test('are given to one node that asks two pools, whose definition is created', async () => {
    const controller = await cluster.startController();
    await cluster.until('it leads', async () => (await controller.get('/status')).includes('"leading"'));
    await cluster.setPool('default', 27, ['10.0.0.0/16']);
    await cluster.setPool('blue', 26, ['10.1.0.0/16']);
    await cluster.ask('one', { default: 40, blue: 1 });

    expect(await cluster.served(1)).toEqual(
      new Map([['one', ['blue 10.1.0.0/26', 'default 10.0.0.0/27', 'default 10.0.0.32/27']]]),
    );
    expect(await controller.get('/metrics')).not.toContain('code="403"');
    await cluster.delete('one');
  });

  test('stay apart when a pool changes in a burst, and its leader is killed', async () => {
    await cluster.setPool('small', 28, ['10.2.0.0/26']);
    const [first] = cluster.controllers;
    const second = await cluster.startController();
    const burst = cluster.each(names('node', count), (name) =>
      cluster.ask(name, { default: 1, blue: 1, small: 1 }),
    );
    await cluster.until(
      'some are served',
      async () => [...(await cluster.blocks()).values()].some((blocks) => blocks.length > 0),
      20,
    );
    await first?.kill();
    await cluster.setPool('small', 28, ['10.2.0.0/26', '10.2.64.0/18']);
    await burst;

    let blocks: ReadonlyMap<string, readonly string[]> = new Map();
    await cluster.until('all have a block of each pool', async () => {
      blocks = await cluster.blocks();
      return blocks.size === count && [...blocks.values()].every((own) => own.length === 3);
    });

    expectApart(blocks, 3);
    expect(second.lines.filter((line) => /"level":"error"/.test(line))).toEqual([]);
  });

  test('are those of a definition under which the size and the ends of blocks never change', async () => {
    const path = '/apis/cilium.io/v2alpha1/ciliumpodippools';
    const selector = { matchLabels: { team: 'blue' } };
    await cluster.api.call('POST', path, {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'fixed' },
      spec: { ipv4: { cidrs: ['10.99.0.0/16'], maskSize: 24 }, allowFirstIP: true, podSelector: selector },
    });
    const change = (spec: JsonObject): Promise<JsonObject> =>
      cluster.api.call('PATCH', `${path}/fixed`, { spec });

    await expect(change({ ipv4: { maskSize: 25 } })).rejects.toThrow('maskSize cannot be changed');
    await expect(change({ allowFirstIP: null })).rejects.toThrow('allowFirstIP cannot be changed');
    await expect(change({ allowLastIP: true })).rejects.toThrow('allowLastIP cannot be changed');
    const changed = await change({ ipv4: { cidrs: ['10.98.0.0/16'] }, allowLastIP: false });
    expect(changed['spec']).toMatchObject({ podSelector: selector, allowFirstIP: true });
    await cluster.api.call('DELETE', `${path}/fixed`);
  });

  test('of a pool that overlaps another one are given to nobody, and an Event on it says so', async () => {
    await cluster.setPool('wrong', 26, ['10.1.0.0/24']);
    await cluster.until('an Event tells', async () => {
      const events = await cluster.api.call('GET', '/api/v1/events?fieldSelector=involvedObject.name=wrong');
      return JSON.stringify(events).includes('overlaps 10.1.0.0/16 of pool blue');
    });
    await cluster.ask('late', { wrong: 1, default: 1 });

    await cluster.until(
      'the other pool serves it',
      async () => (await cluster.blocks()).get('late')?.length === 1,
    );
    await cluster.until('it says why', async () => {
      const node = await cluster.api.call('GET', `${cluster.path}/late`);
      return textAt(node, 'status', 'ipam', 'operator-status', 'error').startsWith(
        'pool wrong gives out no blocks',
      );
    });
  });
});
