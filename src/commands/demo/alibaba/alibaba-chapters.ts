// Orders the chapters of the demonstration on Alibaba Cloud.
import { detachedInterfaces } from '../../../simulator/cluster/invariants.ts';
import { type AlibabaContext, type Chapter, nodesOfSmallSubnet, type SmallSubnetNodes } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { lostAssignments } from '../chapters/lost-assignments.ts';
import { crowdPods } from '../chapters/pods.ts';
import { releaseAddresses, scaleUp } from '../chapters/scaling.ts';
import { byCalls, takeover } from '../chapters/takeover.ts';
import { type LeftInterfaces, smallZone } from './alibaba-topology.ts';

export function alibabaChapters(context: AlibabaContext, left: LeftInterfaces): readonly Chapter[] {
  const { gateway, network } = context.cluster.alibaba;
  const nodes = (): SmallSubnetNodes =>
    nodesOfSmallSubnet(context.cluster, ({ zone }) => zone === smallZone.name);
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

/** Interfaces that nobody attaches: those of this cluster are deleted, those of others stay. */
function orphans(context: AlibabaContext, { ours, others, place }: LeftInterfaces): Chapter {
  const { network } = context.cluster;
  const left = (ids: readonly string[]): readonly string[] => ids.filter((id) => network.interfaces.has(id));
  return {
    title: 'interfaces that a dead controller left behind',
    hints: [
      `In ${place} there are ${ours.length} interfaces that a controller of this cluster created and never attached, and`,
      `${others.length} of another cluster. Such an interface is deleted once it was seen detached for a minute, if its tags name this cluster.`,
    ],
    beginChapter: () => undefined,
    watch: () => {
      if (left(ours).length > 0) return 'running';
      context.report(
        `COLLECTED: ${ours.join(', ')} and their addresses are free again; ${left(others).length} of ${others.length} of the other cluster are there`,
      );
      return 'over';
    },
  };
}
