import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { createArm } from '../../../src/simulator/arm/create-arm.ts';
import { isObject, type Json, objectAt } from '../../../src/simulator/workload/json.ts';
import { ArmHand } from '../../support/arm-hand.ts';
import { controllerPrincipal, otherPrincipal, scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { PublicIpAddresses } from './public-ip-addresses.ts';

const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
const path = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/0`;
const prefix = `${group}/providers/Microsoft.Network/publicIPPrefixes/egress`;

const clients: Readonly<Record<string, string>> = { ours: controllerPrincipal, others: otherPrincipal };

/** What a client does with the primary configuration. */
const wishes: Readonly<Record<string, (configuration: Json) => Json>> = {
  asks: (configuration) => ({
    ...(isObject(configuration) ? configuration : {}),
    properties: {
      ...objectAt(configuration, 'properties'),
      publicIPAddressConfiguration: {
        name: 'cilium-managed-public-ip',
        properties: { publicIPPrefix: { id: prefix } },
      },
    },
  }),
  drops: (configuration) => {
    const { publicIPAddressConfiguration: _, ...properties } = objectAt(configuration, 'properties');
    return { ...(isObject(configuration) ? configuration : {}), properties };
  },
};

/** What is found while clients change the model of one VM, one after the other. */
async function misdeedsOf(deeds: readonly string[]): Promise<readonly string[]> {
  const publicIpPrefixes = [{ name: 'egress', block: '203.0.113.8/31', tags: {} }];
  const topology = testAzure({ scaleSets: [scaleSet()], publicIpPrefixes, latency: { scale: 0 } });
  const clock = new VirtualClock();
  const { cloud, gateway } = createArm({ topology, clock, random: new Random('public addresses') });
  const found: string[] = [];
  const addresses = new PublicIpAddresses(cloud, (text) => found.push(text));
  cloud.onWrite = (write) => {
    addresses.lookAt(write.path, gateway.acting?.caller.name === controllerPrincipal);
  };
  for (const deed of deeds) {
    const [client = '', wish = ''] = deed.split(' ');
    const edit = wishes[wish] ?? ((configuration): Json => configuration);
    const changed = new ArmHand(gateway, clients[client]).change(path, (list) => list.map(edit));
    await clock.advance(120_000);
    expect(await changed).toBe(200);
  }
  return found;
}

describe('a VM that has lost its public address', () => {
  test.each([
    ['to a controller', 1, 'ours asks, ours drops, ours keeps'],
    ['to a controller, before others change it', 1, 'ours asks, ours keeps, ours drops, others keeps'],
    ['to a controller, after others changed it', 1, 'ours asks, others keeps, ours drops, ours keeps'],
    ['to others', 0, 'ours asks, ours keeps, others drops, ours keeps'],
    ['to others, and got one again', 0, 'ours asks, ours keeps, others drops, ours asks, ours keeps'],
  ])('is judged by who took it: %s', async (_, count, deeds) => {
    const found = await misdeedsOf(deeds.split(', '));

    expect(found).toEqual(Array.from({ length: count }, () => `${path} lost its public address 203.0.113.8`));
  });
});
