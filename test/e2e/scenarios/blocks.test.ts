// Blocks to nodes on a real API server: a thousand objects, the kill of a leader in the middle of a burst, and nothing but the
// roles of the chart.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../rig/child-process.ts';
import type { ControllerChild } from '../../../rig/controller-child.ts';
import { metricIn } from '../../../rig/metric-text.ts';
import { BlockCluster, type BlockClusterOptions } from '../rig/block-cluster.ts';

const count = 1000;

const clusters: readonly (readonly [BlockClusterOptions['scope'], readonly string[], number])[] = [
  ['cluster-pool', ['--cluster-pool-ipv4-cidr=10.0.0.0/12', '--cluster-pool-ipv6-cidr=fd00::/98'], 2],
  ['nodeipam', ['--cluster-cidr=10.0.0.0/12,fd00::/50'], 2],
];

function names(prefix: string, many: number): readonly string[] {
  return Array.from({ length: many }, (_, index) => `${prefix}-${index}`);
}

function expectApart(blocks: ReadonlyMap<string, readonly string[]>, families: number): void {
  const all = [...blocks.values()].flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toHaveLength(blocks.size * families);
}

describe.each(clusters)('blocks of %s', (scope, flags, families) => {
  let cluster: BlockCluster;
  const [resource] = scope === 'nodeipam' ? ['nodes'] : ['ciliumnodes'];

  beforeAll(async () => {
    cluster = await BlockCluster.start({ scope, flags });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  test('are given to a thousand objects, with one write each', async () => {
    await cluster.each(names('first', count), (name) => cluster.create(name));
    const controller = await cluster.startController();

    const blocks = await cluster.served(count);

    expectApart(blocks, families);
    const scrape = await controller.get('/metrics');
    const requests = (verb: string, code: string): number | undefined =>
      metricIn(
        scrape,
        `headwater_kubernetes_requests_total{verb="${verb}",resource="${resource}",code="${code}"}`,
      );
    expect(requests('patch', '200')).toBe(count);
    expect(scrape).not.toContain('code="403"');
    expect(JSON.parse(await controller.get('/status'))).toMatchObject({
      state: 'leading',
      nodes: { total: count, served: count, waiting: 0 },
      pools: [{ held: count }, { held: count }],
    });
  });

  test('stay as they are when the leader is killed in the middle of a burst, and the next one serves the rest', async () => {
    const before = await cluster.blocks();
    const [first] = cluster.controllers;
    const second = await cluster.startController();
    const burst = cluster.each(names('second', 300), (name) => cluster.create(name));
    await cluster.until(
      'some of the burst are served',
      async () =>
        [...(await cluster.blocks())].some(
          ([name, blocks]) => name.startsWith('second') && blocks.length > 0,
        ),
      20,
    );
    await first?.kill();
    await burst;

    const after = await cluster.served(count + 300);

    expectApart(after, families);
    expect([...before].filter(([name, blocks]) => after.get(name)?.join() !== blocks.join())).toEqual([]);
    await cluster.until('the second one leads', async () =>
      (await second.get('/status')).includes('"state": "leading"'),
    );
    expect(second.lines.filter((line) => /"level":"(?:warn|error)"/.test(line))).toEqual([]);
  });

  test('are free again when their objects are gone, and go to those that wait', async () => {
    const gone = names('second', 300);
    const before = await cluster.blocks();
    await cluster.each(gone, (name) => cluster.delete(name));
    await cluster.each(names('third', 300), (name) => cluster.create(name));

    const after = await cluster.served(count + 300);

    expectApart(after, families);
    const kept = [...before].filter(([name]) => name.startsWith('first'));
    expect(kept.filter(([name, blocks]) => after.get(name)?.join() !== blocks.join())).toEqual([]);
  });

  test('of Nodes that ask for bigger ones by their labels have that size', async () => {
    const [usual, asked] = scope === 'nodeipam' ? [64, 61] : [112, 109];
    await cluster.createLabelled('big-ipv4', { 'headwater/ipv4-mask-size': '22' });
    await cluster.createLabelled('big-ipv6', { 'headwater/ipv6-mask-size': String(asked) });

    const blocks = await cluster.served(count + 302);

    expectApart(blocks, families);
    const lengths = (name: string): readonly number[] | undefined =>
      blocks.get(name)?.map((block) => Number(block.split('/')[1]));
    expect(lengths('big-ipv4')).toEqual([22, usual]);
    expect(lengths('big-ipv6')).toEqual([24, asked]);
  });

  test.each([['nobody' as const]])('of %s are refused a change by us', async () => {
    const [name = '', blocks = []] = [...(await cluster.blocks())][0] ?? [];
    const claimed =
      scope === 'nodeipam' ? ['10.15.255.0/24', 'fd00:0:0:3fff::/64'] : [...blocks].toReversed();
    await cluster.create('claims', claimed);
    await cluster.until('it is known', async () => {
      const answers = await Promise.all(
        cluster.controllers.slice(1).map((each) => each.get('/status?node=claims').catch(() => '')),
      );
      return answers.some((answer) => answer.includes('"standing": "served"'));
    });

    expect((await cluster.blocks()).get('claims')).toEqual(claimed);
    expect((await cluster.blocks()).get(name)).toEqual(blocks);
  });
});

describe('docs/cidr-modes.md', () => {
  const page = readFileSync(join(root, 'docs/cidr-modes.md'), 'utf8');
  // A scenario of its own plays those of a cloud, which they need.
  const commands = (page.match(/^bin\/headwater (?:run|nodeipam) .*$/gm) ?? []).filter(
    (command) => !command.includes('--cloud-provider'),
  );

  test('has a command for each mode', () => {
    expect(commands).toHaveLength(3);
  });

  test.each(commands)('says what works: %s', async (command) => {
    const [, name, ...words] = command.replaceAll("'", '').split(' ');
    const isOfPools = words.includes('--ipam=multi-pool');
    const cluster = await BlockCluster.start({
      scope: name === 'nodeipam' ? 'nodeipam' : isOfPools ? 'multi-pool' : 'cluster-pool',
      flags: words.filter((word) => !word.startsWith('--ipam=')),
    });
    try {
      if (isOfPools) await cluster.ask('a', { default: 1 });
      else await cluster.create('a');
      await cluster.startController();

      const ofMode = isOfPools ? ['default 10.0.0.0/27'] : ['10.0.0.0/24'];
      const blocks = name === 'nodeipam' ? ['10.0.0.0/24', 'fd00::/64'] : ofMode;
      expect(await cluster.served(1)).toEqual(new Map([['a', blocks]]));
    } finally {
      await cluster.stop();
    }
  });
});

describe('nodes of two releases, whose selectors differ', () => {
  let cluster: BlockCluster;

  beforeAll(async () => {
    const leases = ['first', 'second', 'third', 'whole'];
    cluster = await BlockCluster.start({ scope: 'cluster-pool', flags: [], leases });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  /** Resolves once it leads. */
  async function startRelease(name: string, network: string, selector: string): Promise<ControllerChild> {
    const controller = await cluster.startController([
      `--leader-election-lease-name=${name}`,
      `--cluster-pool-ipv4-cidr=${network}`,
      ...(selector === '' ? [] : [`--node-selector=${selector}`]),
    ]);
    await cluster.until(`${name} leads, or ends`, async () =>
      (await controller.get('/status').catch(() => '"leading"')).includes('"leading"'),
    );
    return controller;
  }

  test('have blocks of their own release, and a younger one without a selector ends at its start', async () => {
    await startRelease('first', '10.0.0.0/16', 'team=a');
    const second = await startRelease('second', '10.1.0.0/16', 'team in (b,c)');
    await cluster.createLabelled('node-a', { team: 'a' });
    await cluster.createLabelled('node-b', { team: 'b' });
    await cluster.served(2);
    const whole = await startRelease('whole', '10.2.0.0/16', '');

    expect(await whole.child.ended).toBe('ended with exit code 1');
    expect(whole.lines.join('')).toContain('another release serves nodes of this cluster');
    expect(await cluster.blocks()).toEqual(
      new Map([
        ['node-a', ['10.0.0.0/24']],
        ['node-b', ['10.1.0.0/24']],
      ]),
    );
    expect(await second.get('/metrics')).not.toContain('code="403"');
  });

  test('that a third one chooses, too, stay with the older ones, and say why', async () => {
    const third = await startRelease('third', '10.3.0.0/16', 'team');
    await cluster.createLabelled('node-c', { team: 'c' });
    await cluster.createLabelled('node-d', { team: 'd' });
    const blocks = await cluster.served(4);
    await cluster.until('an Event tells of each overlap', async () => {
      const events = JSON.stringify(await cluster.api.call('GET', '/api/v1/events'));
      return (
        ['a', 'b'].every((name) => events.includes(`"name":"node-${name}"`)) &&
        events.includes('NodeSelectorsOverlap')
      );
    });

    expect([blocks.get('node-c'), blocks.get('node-d')]).toEqual([['10.1.1.0/24'], ['10.3.0.0/24']]);
    const { overlaps } = JSON.parse(await third.get('/status')) as { overlaps: { node: string }[] };
    expect(overlaps.map(({ node }) => node).toSorted()).toEqual(['node-a', 'node-b', 'node-c']);
    expect(await third.get('/metrics')).not.toContain('code="403"');
  });
});

describe('the definition of CiliumNodes', () => {
  test('is created where it is missing, with the roles of the chart, and serves blocks', async () => {
    const cluster = await BlockCluster.start({
      scope: 'cluster-pool',
      flags: ['--cluster-pool-ipv4-cidr=10.0.0.0/16'],
    });
    try {
      const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
      await cluster.api.call('DELETE', definition);
      await cluster.until('it is gone', () =>
        cluster.api.call('GET', definition).then(
          () => false,
          () => true,
        ),
      );
      const controller = await cluster.startController();
      await cluster.until('it leads', async () => (await controller.get('/status')).includes('"leading"'));
      await cluster.create('a');

      expect(await cluster.served(1)).toEqual(new Map([['a', ['10.0.0.0/24']]]));
    } finally {
      await cluster.stop();
    }
  });
});
