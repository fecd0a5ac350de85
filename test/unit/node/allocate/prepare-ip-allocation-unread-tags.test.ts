import { describe, expect, test } from '@jest/globals';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import type { Infrastructure } from '../../../../src/providers/contract/infrastructure.ts';
import { eni, facts, infrastructure, subnet, view } from '../allocation-facts.ts';
import { failure } from '../outcomes.ts';

const unread = { unreadTags: new Map([['subnet-1', failure('notAuthorized')]]) };
const excluded = subnet('subnet-1', { eligible: false });
const slots = { kind: 'noInterfaceSlots', interfaces: 3 };

describe('an instance without a slot for another interface', () => {
  test.each<[string, Infrastructure, number, object]>([
    [
      'waits for the tags of a subnet where it has room',
      infrastructure([excluded], unread),
      3,
      { kind: 'networkUnreadable', failure: { kind: 'notAuthorized' } },
    ],
    ['is full if no interface has room there', infrastructure([excluded], unread), 9, slots],
    ['is full if the tags of that subnet are known', infrastructure([excluded]), 3, slots],
  ])('%s', (_, network, taken, obstacle) => {
    const plan = prepareIPAllocation(
      facts({ wanted: 20, view: view([eni(0, 9), eni(1, 9), eni(2, taken)]), infrastructure: network }),
    );

    expect(plan).toMatchObject({ steps: [], obstacle });
  });
});
