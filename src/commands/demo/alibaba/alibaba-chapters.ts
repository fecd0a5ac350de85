// Orders the chapters of the demonstration on Alibaba Cloud.
import { detachedInterfaces } from '../../../simulator/cluster/invariants.ts';
import type { AlibabaContext, Chapter } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { lostAssignments } from '../chapters/lost-assignments.ts';
import { type LeftInterfaces, orphans } from '../chapters/orphans.ts';
import { crowdPods } from '../chapters/pods.ts';
import { releaseAddresses } from '../chapters/release-addresses.ts';
import { scaleUp } from '../chapters/scale-up.ts';
import { type SmallSubnetNodes, smallZoneNodes } from '../chapters/small-zone.ts';
import { byCalls, takeover } from '../chapters/takeover.ts';
import { smallZone } from './alibaba-topology.ts';

export function alibabaChapters(context: AlibabaContext, left: LeftInterfaces): readonly Chapter[] {
  const { gateway, network } = context.cluster.alibaba;
  const nodes = (): SmallSubnetNodes => smallZoneNodes(context.cluster, smallZone.name);
  const unattached = (): number =>
    detachedInterfaces({ network }).length - left.ours.length - left.others.length;
  return [
    takeover(context, {
      title: 'the nodes join, and the controller is killed',
      ...byCalls(gateway.counters, [
        'CreateNetworkInterface',
        'AttachNetworkInterface',
        'AssignPrivateIpAddresses',
      ]),
      hints: [
        'Each node gets an interface with 8 addresses before its first pod. The controller is killed after the first of them.',
        "Another one leads when the dead one's Lease has ended. It finds the interfaces of the dead one, and adopts them.",
      ],
      // The sooner, the sooner the minute of the interfaces begins that were left behind.
      isTime: () => unattached() > 0,
      leftBehind: () => `${unattached()} interfaces that are created and not attached`,
      beginChanges: () => undefined,
      meanwhile: () => undefined,
      isMended: ({ nodes: { serving, total } }) => serving === total,
    }),
    scaleUp(context, 'ECS', () => nodes().generous),
    lostAssignments(context, {
      cloud: 'alibabacloud',
      api: 'ECS',
      faults: gateway.faults,
      isElsewhere: ({ zone, deviceIndex }) => zone !== smallZone.name && deviceIndex > 0,
      next: ({ name }) =>
        `it is asked again with the same client token, and ECS names those that ${name} has`,
    }),
    exhaustedSubnet(context, {
      place: smallZone.name,
      kind: 'vSwitch',
      name: smallZone.vSwitch,
      id: [...network.subnets.values()].find(({ name }) => name === smallZone.vSwitch)?.id ?? '',
      nodes,
      crowd: crowdPods,
      hint: 'No other zone notices.',
    }),
    releaseAddresses(context, { nodes, agents: 'All agents of this cloud are asked.' }),
    orphans(context, left),
  ];
}
