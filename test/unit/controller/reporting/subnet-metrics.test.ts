import { describe, expect, test } from '@jest/globals';
import { type SubnetFigures, subnetFigures } from '../../../../src/controller/reporting/subnet-figures.ts';
import { showSubnets, subnetUse } from '../../../../src/controller/reporting/subnet-metrics.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import { SubnetLedger } from '../../../../src/providers/catalog/subnet-ledger.ts';
import { eni, infrastructure, subnet } from '../../node/allocation-facts.ts';
import { servedEntry } from '../node-summaries.ts';

/** The known facts of a /24 with this many free addresses. */
function figuresOf(
  free: number,
  change: { listed?: number; refused?: readonly number[] } = {},
): SubnetFigures | undefined {
  const { listed, refused = [] } = change;
  const ledger = new SubnetLedger();
  ledger.observe(new Map([['subnet-1', free]]), 0);
  for (const asked of refused) ledger.fragmented('subnet-1', asked, 0);
  const wholeBlocks = new Map(listed === undefined ? [] : [['subnet-1', listed]]);
  const known = infrastructure([subnet('subnet-1', { cidr: '10.0.1.0/24' })]);
  return subnetFigures({ infrastructure: known, wholeBlocks, ledger }, 10)[0];
}

describe('the whole free blocks of a subnet', () => {
  test.each([
    ['nothing is known before the first listing', 200, {}, undefined],
    ['the listing says how many there are', 200, { listed: 9 }, 9],
    ['there are no more than the free addresses have room for', 50, { listed: 9 }, 3],
    ['a subnet that refused a single prefix has none', 200, { listed: 9, refused: [1] }, 0],
    ['a subnet that refused four at once may have some', 200, { listed: 9, refused: [4] }, 9],
  ])('are known as far as possible: %s', (_, free, change, blocks) => {
    expect(figuresOf(free, change)?.freeBlocks).toBe(blocks);
  });
});

test('the size of a subnet counts all its blocks', () => {
  const several = subnet('subnet-1', { cidr: '10.0.1.0/24', otherCidrs: ['10.0.8.0/25'] });
  const sources = {
    infrastructure: infrastructure([several]),
    wholeBlocks: new Map(),
    ledger: new SubnetLedger(),
  };

  expect(subnetFigures(sources, 10)[0]?.size).toBe(256 + 128);
});

describe('the gauges of subnets', () => {
  test('count nodes and pod addresses by the subnet of their interfaces, a node once', () => {
    const prefix = { prefixes: ['10.0.9.0/28'], subnetId: 'subnet-2' };
    const summaries = [
      servedEntry('a', {
        assessment: { usage: { available: 22, used: 11, pendingPods: 0 } },
        interfaces: [eni(0, 2), eni(1, 3), eni(2, 1, prefix)],
      }),
      servedEntry('b', { interfaces: [eni(0, 1)] }),
    ];

    expect(Object.fromEntries(subnetUse(summaries))).toEqual({
      'subnet-1': { nodes: 2, assigned: 6, used: 2.5 },
      'subnet-2': { nodes: 1, assigned: 17, used: 8.5 },
    });
  });

  test.each([
    ['half of the free addresses lie in whole blocks', 64, 2, 0.5],
    ['all of them do', 32, 2, 0],
    ['none of them does', 40, 0, 1],
    ['nothing is free', 0, 0, 0],
  ])('show the fragmented part: %s', async (_, free, freeBlocks, ratio) => {
    const registry = createMetricRegistry({ measureProcess: false });
    const known = figuresOf(free);
    if (known === undefined) throw new Error('the subnet is not known');

    showSubnets(registry.metrics, [{ ...known, freeBlocks }], []);

    const labels = 'subnet_id="subnet-1",availability_zone="us-west-1a"';
    const lines = (await registry.scrape()).split('\n');
    expect(lines).toContain(`headwater_subnet_fragmentation_ratio{${labels}} ${ratio}`);
    expect(lines).toContain(`headwater_subnet_free_blocks{${labels}} ${freeBlocks}`);
    expect(lines).toContain(`headwater_subnet_size_addresses{${labels}} 256`);
  });

  test('show the size of a subnet that only a CiliumNode names, and no free addresses before the cloud has counted', async () => {
    const registry = createMetricRegistry({ measureProcess: false });
    const known = infrastructure([subnet('subnet-1', { cidr: '10.0.1.0/24' })]);
    const sources = { infrastructure: known, wholeBlocks: new Map(), ledger: new SubnetLedger() };

    showSubnets(registry.metrics, subnetFigures(sources, 10), []);

    const text = await registry.scrape();
    expect(text).toMatch(/^headwater_subnet_size_addresses\{.*\} 256$/m);
    expect(text).not.toMatch(/^headwater_subnet_free_addresses\{/m);
    expect(text).not.toMatch(/^cilium_operator_ipam_available_ips_per_subnet\{/m);
  });

  test('have no series of blocks before the first listing', async () => {
    const registry = createMetricRegistry({ measureProcess: false });
    const known = figuresOf(200);

    showSubnets(registry.metrics, known === undefined ? [] : [known], []);

    expect(await registry.scrape()).not.toMatch(/^headwater_subnet_(free_blocks|fragmentation_ratio)\{/m);
  });
});
