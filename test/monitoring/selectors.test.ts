import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { sleep } from '../../src/runtime/clock.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { Child, endAll } from '../integration/commands/child.ts';
import { ciliumPanels } from './cilium-dashboard.ts';
import { type Played, played } from './rig/played-stages.ts';
import { type Line, PrometheusApi } from './rig/prometheus-server.ts';
import { shippedQueries, shippedSelectors } from './rig/shipped.ts';
import { troubles } from './stages/troubles.ts';

const { signal } = new AbortController();

/** The demonstration, idle after its last chapter. */
interface Demonstration {
  readonly child: Child;
  readonly api: PrometheusApi;
  readonly cloud: EC2Client;
}

let demo: Demonstration;
let stages: Played;

async function demonstration(): Promise<Demonstration> {
  const child = new Child(['demo', '--nodes=6', '--plain', '--keep-running', '--prometheus']);
  const endpoint = await child.word(/embedded EC2 on (\S+) /);
  const [, accessKeyId = '', secretAccessKey = ''] = await child.said(
    /AWS_ACCESS_KEY_ID=(\S+) AWS_SECRET_ACCESS_KEY=(\S+)/,
  );
  const url = await child.word(/^Prometheus: (\S+)/m);
  await child.said(/^still running/m);
  const credentials = { accessKeyId, secretAccessKey };
  const cloud = new EC2Client({ endpoint, region: 'eu-central-1', credentials });
  return { child, api: new PrometheusApi(url), cloud };
}

beforeAll(async () => {
  [demo, stages] = await Promise.all([demonstration(), played(troubles, { signal })]);
});

afterAll(async () => {
  demo.cloud.destroy();
  // A killed process could not end its Prometheus.
  demo.child.signal('SIGINT');
  await Promise.all([demo.child.ended, stages.server.stop()]);
  await endAll();
});

/** A title. */
function inShort(expr: string): string {
  return expr.replaceAll(/\s+/g, ' ').slice(0, 150);
}

/** Whether a series of the selector ever had a value other than zero. */
async function isSeen(selector: string): Promise<boolean> {
  const expr = `count(max_over_time(${selector}[2h]) != 0)`;
  const found = await Promise.all([
    demo.api.query(expr, signal),
    stages.server.api.query(expr, signal, stages.end),
  ]);
  return found.flat().length > 0;
}

const selectors = [...shippedSelectors()];

describe('a selector of the dashboards and alerts', () => {
  test.each(selectors.map(([text]) => text))('has values above or below zero: %s', async (selector) => {
    expect(await isSeen(selector)).toBe(true);
  });

  test('is noticed when it matches nothing', async () => {
    expect(await isSeen('headwater_nodes{state="supplied"}')).toBe(false);
  });
});

/** Results of a query at any moment of the last two hours, one scrape apart. */
async function shownBy(expr: string): Promise<readonly Line[]> {
  const [now, then] = [Math.ceil(clock.wall() / 1000), stages.end];
  const lines = await Promise.all([
    demo.api.range(expr, { start: now - 600, end: now, step: 5 }, signal),
    stages.server.api.range(expr, { start: then - 7200, end: then, step: 15 }, signal),
  ]);
  return lines.flat();
}

const queries = shippedQueries().map((query) => [`${query.from}: ${inShort(query.expr)}`, query] as const);
const ofPanels = queries.filter(([, query]) => query.from.endsWith('.json'));

describe('a query of the dashboards and alerts', () => {
  test.each(queries)('is answered without an error: %s', async (_, { expr }) => {
    await expect(shownBy(expr)).resolves.toBeDefined();
  });

  test.each(ofPanels)('has a result: %s', async (_, { expr }) => {
    expect(await shownBy(expr)).not.toEqual([]);
  });

  test('is noticed when it is wrong', async () => {
    await expect(demo.api.query('sum by (headwater_nodes', signal)).rejects.toThrow('parse error');
  });
});

describe('the dashboard that Cilium ships for its operator', () => {
  test.each(ciliumPanels.map((panel) => [panel.title, panel] as const))(
    'shows in %s what our page says it shows',
    async (_, { queries: asked, works }) => {
      const shown = await Promise.all(asked.map(shownBy));

      expect(shown.map((lines) => lines.length > 0)).toEqual(asked.map(() => works));
    },
  );

  test('has the figures of the demonstration', async () => {
    const [total] = await demo.api.query('cilium_operator_ipam_nodes{category="total"}', signal);
    const [used] = await demo.api.query('avg(cilium_operator_ipam_used_ips) by (type)', signal);
    const [own] = await demo.api.query('headwater_addresses{state="used"}', signal);

    expect(total?.value[1]).toBe('6');
    expect(Number(used?.value[1]) * 6).toBeCloseTo(Number(own?.value[1]));
  });
});

describe('the free addresses of the panel', () => {
  test('are those that the cloud has at that moment', async () => {
    const panel = shippedQueries().find(
      ({ from, expr }) =>
        from === 'headwater-subnets.json' && /^max by .*free_addresses\{[^}]*\}\)$/.test(expr),
    );
    const { Subnets = [] } = await demo.cloud.send(new DescribeSubnetsCommand({}));
    const inCloud = new Map(
      Subnets.map(({ SubnetId, AvailableIpAddressCount }) => [SubnetId, AvailableIpAddressCount]),
    );
    // After two scrapes, everything in flight is stored.
    await sleep(clock, 3000, signal);

    const shown = await demo.api.query(panel?.expr ?? '', signal);

    const inPanel = new Map(shown.map(({ metric, value }) => [metric['subnet_id'], Number(value[1])]));
    expect(inPanel.size).toBe(6);
    expect(inPanel).toEqual(inCloud);
  });
});
