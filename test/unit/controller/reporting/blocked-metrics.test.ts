import { expect, test } from '@jest/globals';
import { blockedSeries, warningSeries } from '../../../../src/controller/reporting/fleet-metrics.ts';
import type { SubnetFigures } from '../../../../src/controller/reporting/subnet-figures.ts';
import { servedEntry, unservedEntry } from '../node-summaries.ts';
import { addressless, unreadable, view } from '../../node/allocation-facts.ts';

function subnet(id: string, change: Partial<SubnetFigures>): SubnetFigures {
  const space = {
    counted: true,
    size: 256,
    free: 0,
    reserved: 0,
    exhausted: false,
    fragmented: false,
    freeBlocks: undefined,
  };
  return { id, zone: 'a', network: 'vpc-1', eligible: true, cidr: '10.0.0.0/24', ...space, ...change };
}

test('blocked resources are counted by what they are and why', () => {
  const managed = servedEntry('c', {
    figures: {
      condition: { reason: 'SubnetsExhausted', message: '' },
      view: view([], [unreadable(), unreadable()], [addressless()]),
    },
  });
  const summaries = [unservedEntry('a'), unservedEntry('b'), managed];
  const subnets = [
    subnet('s-1', { exhausted: true, fragmented: true }),
    subnet('s-2', { fragmented: true }),
    subnet('s-3', {}),
  ];

  expect(blockedSeries(summaries, subnets)).toEqual([
    [{ resource: 'node', reason: 'NodeUnreadable' }, 2],
    [{ resource: 'node', reason: 'SubnetsExhausted' }, 1],
    [{ resource: 'interface', reason: 'InterfaceUnreadable' }, 2],
    [{ resource: 'subnet', reason: 'SubnetsExhausted' }, 1],
    [{ resource: 'subnet', reason: 'PrefixSpaceFragmented' }, 2],
  ]);
});

test('nodes with warnings are counted by reason, each once', () => {
  const unreadableOne = { reason: 'InterfaceUnreadable', message: 'eni-1' } as const;
  const unreadableOther = { reason: 'InterfaceUnreadable', message: 'eni-2' } as const;
  const untaken = { reason: 'FreeAddressesNotTaken', message: '' } as const;
  const summaries = [
    unservedEntry('a'),
    servedEntry('b', { figures: { warnings: [unreadableOne, unreadableOther, untaken] } }),
    servedEntry('c', { figures: { warnings: [untaken] } }),
  ];

  expect(warningSeries(summaries)).toEqual([
    [{ reason: 'InterfaceUnreadable' }, 1],
    [{ reason: 'FreeAddressesNotTaken' }, 2],
  ]);
});
