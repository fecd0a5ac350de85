import { expect, test } from '@jest/globals';
import { setAsideSeries } from '../../../src/controller/set-aside-series.ts';
import type { SubnetFigures } from '../../../src/controller/subnet-figures.ts';
import type { SeatFigures } from '../../../src/manager/fleet.ts';
import { unreadable, view } from '../node/allocation-facts.ts';

function subnet(id: string, change: Partial<SubnetFigures>): SubnetFigures {
  const space = { free: 0, reserved: 0, exhausted: false, fragmented: false };
  return { id, zone: 'a', cidr: '10.0.0.0/24', ...space, ...change };
}

test('what is left alone is counted by what it is and why', () => {
  const setAside = { kind: 'setAside', diagnosis: { reason: 'NodeUnreadable', text: '' } } as const;
  const managed: SeatFigures = {
    kind: 'managed',
    name: 'c',
    figures: {
      protocol: 'crd',
      assessment: { kind: 'unread' },
      diagnosis: { reason: 'SubnetsExhausted', text: '' },
      remarks: [],
      view: { ...view([]), unreadable: [unreadable(), unreadable()] },
      shortSince: undefined,
    },
  };
  const seats: readonly SeatFigures[] = [{ ...setAside, name: 'a' }, { ...setAside, name: 'b' }, managed];
  const subnets = [
    subnet('s-1', { exhausted: true, fragmented: true }),
    subnet('s-2', { fragmented: true }),
    subnet('s-3', {}),
  ];

  expect(setAsideSeries(seats, subnets)).toEqual([
    [{ what: 'node', reason: 'NodeUnreadable' }, 2],
    [{ what: 'node', reason: 'SubnetsExhausted' }, 1],
    [{ what: 'interface', reason: 'InterfaceUnreadable' }, 2],
    [{ what: 'subnet', reason: 'SubnetsExhausted' }, 1],
    [{ what: 'subnet', reason: 'PrefixSpaceFragmented' }, 2],
  ]);
});
