import { describe, expect, test } from '@jest/globals';
import { shippedSelectors } from '../../monitoring/rig/shipped.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { startController } from '../../support/world-controller.ts';

const minute = 60_000;
const update = 'VirtualMachineScaleSetVMs.Update';

/** What a cluster shows at several moments: its nodes grow, are throttled and denied, fill their subnet, and shrink. */
async function figures(): Promise<string> {
  const network = {
    name: 'main',
    blocks: ['10.0.0.0/16'],
    subnets: [{ name: 'pods', block: '10.0.16.0/26' }],
  };
  const nic = { name: 'nic0', subnet: 'pods' };
  const world = new AzureClusterWorld({
    cloud: testAzure({
      virtualNetworks: [network],
      scaleSets: [scaleSet({ count: 2 })],
      machines: [{ name: 'single', interfaces: [nic] }],
    }),
  });
  const controller = startController(world, {
    metered: true,
    flags: {
      'azure-release-excess-ips': 'true',
      'excess-ip-release-delay': '20s',
      'resync-interval': '60s',
    },
  });
  await world.startAgents();
  world.fault('VirtualMachineScaleSetVMs.Get', { kind: 'throttle' }, 1);
  const denial = { kind: 'error', status: 403, code: 'AuthorizationFailed', message: 'no' } as const;
  world.fault('PublicIPPrefixes.List', denial);
  await world.patch(world.machine(), { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
  world.addLivingPods(80);
  await world.advance(10 * minute);
  const full = await controller.scrape();
  await world.deleteLivingPods(70);
  const isDenied = world.fault(update, denial);
  await world.advance(3 * minute);
  const denied = await controller.scrape();
  isDenied();
  await world.advance(20 * minute);
  return [full, denied, await controller.scrape()].join('\n');
}

interface Series {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
}

function seriesIn(text: string): readonly Series[] {
  return text.split('\n').flatMap((line) => {
    const [, metric, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) return [];
    const found = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [{ metric, labels: new Map(found.map(([, name = '', value = '']) => [name, value])) }];
  });
}

const ofTheTarget = new Set(['cluster', 'job', 'instance']);

function fits({ labels }: Series, matcher: string): boolean {
  const [, label = '', operator, value = ''] = /^(\w+)(=~|=|!~|!=)"(.*)"$/.exec(matcher) ?? [];
  if (ofTheTarget.has(label)) return true;
  const own = labels.get(label) ?? '';
  const isEqual = operator?.endsWith('~') === true ? new RegExp(`^(?:${value})$`).test(own) : own === value;
  return operator?.startsWith('!') === true ? !isEqual : isEqual;
}

/** What only a process has, and what only other clouds and blocks to nodes have. */
const elsewhere =
  /^(nodejs_|process_|headwater_cidr_|headwater_warnings\{reason=~"PodCIDRConflict|cilium_operator_(ec2|alibabacloud)_|headwater_subnet_(free_blocks|fragmentation_ratio)\{)/;
/** Nothing of the API server fails here, and no subnet is full. */
const healthy =
  /^headwater_(kubernetes_requests_total\{code="403"|ciliumnode_writes_total\{outcome=~"denied|blocked\{.*resource!="node")/;

describe('the dashboards and alerts, on Azure', () => {
  test('find a series for each of their selectors, but for what Azure has not', async () => {
    const series = seriesIn(await figures());

    const missing = [...shippedSelectors()].filter(
      ([, { metric, matchers }]) =>
        !series.some((each) => each.metric === metric && matchers.every((matcher) => fits(each, matcher))),
    );

    const unexpected = missing
      .map(([text]) => text)
      .filter((text) => !elsewhere.test(text) && !healthy.test(text));
    expect(unexpected).toEqual(['headwater_blocked{resource="subnet",reason="PrefixSpaceFragmented"}']);
    // Agents of Azure know no prefixes, so no panel speaks of whole blocks.
    expect(series.filter(({ metric }) => /_(free_blocks|fragmentation_ratio)$/.test(metric))).toEqual([]);
  });
});
