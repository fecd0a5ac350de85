// Orders the chapters of the demonstration on EC2.
import { type Chapter, type Ec2Context, nodesOfSmallSubnet, type SmallSubnetNodes } from './chapter.ts';
import { exhaustedSubnet } from './chapters/exhausted-subnet.ts';
import { lostAssignments } from './chapters/lost-assignments.ts';
import { crowdPods } from './chapters/pods.ts';
import { join, releaseAddresses, scaleUp } from './chapters/scaling.ts';
import { failover } from './chapters/takeover.ts';
import { isInSmallZone, smallZone } from './demo-topology.ts';

export function chaptersFor(context: Ec2Context): readonly Chapter[] {
  const nodes = (): SmallSubnetNodes => nodesOfSmallSubnet(context.cluster, isInSmallZone);
  const subnets = [...context.cluster.network.subnets.values()];
  return [
    join(),
    scaleUp(context, 'EC2', () => nodes().generous),
    lostAssignments(context, {
      cloud: 'aws',
      api: 'EC2',
      faults: context.cluster.ec2.gateway.faults,
      isElsewhere: (place) => !isInSmallZone(place),
      next: ({ name }) => `the controller asks nothing more of ${name}, and looks`,
    }),
    exhaustedSubnet(context, {
      place: smallZone.name,
      kind: 'subnet',
      name: smallZone.subnet,
      id: subnets.find(({ tags }) => tags['Name'] === smallZone.subnet)?.id ?? '',
      nodes,
      crowd: crowdPods,
      hint: 'No other zone notices.',
    }),
    releaseAddresses(context, {
      nodes,
      agents: 'Those from 1.20 drop addresses, which are hidden for a while first.',
    }),
    failover(context),
  ];
}
