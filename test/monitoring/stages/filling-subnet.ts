// The long story: a subnet fills up over hours until nodes are in deficit; then a second one is added, and later most
// pods go.
import { createSubnet } from '../../../src/simulator/cloud/subnets.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import type { Recorder, Stage } from './stage.ts';

const minute = 60_000;
const firstPods = 60;
/** Pods that come at a time, until there are more than the subnet has addresses for. */
const growth = 2;
const growthInterval = 5 * minute;
const maxPods = 260;

/** Virtual times, in seconds. */
export interface Moments {
  secondSubnet: number;
  podsGone: number;
  end: number;
}

/** 256 addresses, of which the cloud keeps 5. */
const small = { ...subnets.pods, block: '10.0.16.0/24' };
const tags = { purpose: 'pods' };

/** `moments` are filled in as it is played. */
export function fillingSubnet(moments: Moments): Stage {
  return { name: 'filling-subnet', play: (record) => play(record, moments) };
}

async function play(record: Recorder, moments: Moments): Promise<void> {
  const world = new BusyWorld({
    cloud: testCloud({
      subnets: [subnets.nodes, small],
      routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
      instances: [instance({ type: 'm5.xlarge', count: 18 })],
    }),
    configure: () => ({ eni: { subnetTags: tags, firstInterfaceIndex: 1 }, ipam: { preAllocate: 1 } }),
    setup: {
      flags: {
        'cluster-name': 'blue',
        'aws-release-excess-ips': 'true',
        'excess-ip-release-delay': '60s',
      },
    },
  });
  const advance = (ms: number): Promise<void> => record.advance(world, [world.controller], ms);
  const seconds = (): number => world.clock.monotonic() / 1000;
  await world.startAgents();
  await advance(minute);
  world.addLivingPods(firstPods, 'old');
  await advance(60 * minute);
  for (let pods = firstPods; pods < maxPods; pods += growth) {
    world.addLivingPods(growth, `young-${pods}`);
    await advance(growthInterval);
  }
  await advance(15 * minute);
  moments.secondSubnet = seconds();
  createSubnet(world.cluster.ec2.network, {
    vpcId: ids.vpc,
    zone: 'us-east-1a',
    block: '10.0.32.0/22',
    tags,
  });
  await advance(40 * minute);
  moments.podsGone = seconds();
  for (let pods = firstPods; pods < maxPods; pods += growth) {
    await world.deleteLivingPods(growth, `young-${pods}`);
  }
  await advance(60 * minute);
  moments.end = seconds();
}
