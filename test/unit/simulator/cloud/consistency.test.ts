import { describe, expect, test } from '@jest/globals';
import { attach } from '../../../../src/simulator/cloud/attachments.ts';
import { plainInterface } from '../../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../../src/simulator/cloud/network-interfaces.ts';
import { networkRig, problemOf } from './network-rig.ts';

describe('eventual consistency', () => {
  test('hides a new interface for a while, from reads by id and from listings', async () => {
    const { network, clock } = networkRig('consistency: { visibilityDelayMs: 400, listingLagMs: 0 }');
    const { id } = createInterface(network, plainInterface('subnet-0000000a', []));
    const place = { interfaceId: id, instanceId: 'i-00000001', deviceIndex: 1, cardIndex: 0 };

    const refused = problemOf(() => attach(network, place));
    const listed = network.view(0)('interfaces').get(id);
    await clock.advance(400);
    attach(network, place);

    expect(refused).toEqual({ kind: 'notFound', what: 'interfaces', id });
    expect(listed).toBeUndefined();
    expect(network.view(0)('interfaces').get(id)).toMatchObject({ instanceId: 'i-00000001' });
  });

  test('lets a listing show the past, with the subnet counts of that time', async () => {
    const { network, clock } = networkRig('consistency: { visibilityDelayMs: 0, listingLagMs: 1000 }');
    await clock.advance(5000);
    const before = network.subnets.get('subnet-0000000a')?.available ?? 0;
    const { id } = createInterface(network, plainInterface('subnet-0000000a', []));
    await clock.advance(600);

    const past = network.view(1000);
    const present = network.view(0);

    expect(past('interfaces').get(id)).toBeUndefined();
    expect(past('subnets').get('subnet-0000000a')?.available).toBe(before);
    expect(present('interfaces').get(id)).toBeDefined();
    expect(present('subnets').get('subnet-0000000a')?.available).toBe(before - 1);
  });

  test('shows what the topology names from the start', () => {
    const { network } = networkRig('consistency: { visibilityDelayMs: 400, listingLagMs: 1000 }');

    expect(network.view(1000)('instances').get('i-00000001')).toMatchObject({ state: 'running' });
    expect(network.find('instances', 'i-00000001').interfaceIds).toHaveLength(1);
  });
});
