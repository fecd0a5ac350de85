// Alibaba Cloud as the cloud of the demonstration, the RPC APIs of ECS and VPC and the metadata of an instance; and its chapters.
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { startAlibabaServer } from '../../../simulator/alibaba/alibaba-server.ts';
import { createEmbeddedAlibaba } from '../../../simulator/cluster/embedded-cluster.ts';
import type { DemoCloud, WantedCluster } from '../demo-cloud.ts';
import { throttleAndKill } from '../things-to-break.ts';
import {
  alibabaTopology,
  configureAlibabaNode,
  leaveInterfaces,
  type LeftInterfaces,
  smallZone,
} from './alibaba-topology.ts';
import { detachedInterfaces } from '../../../simulator/cluster/invariants.ts';
import { type AlibabaContext, type Chapter, nodesOfSmallSubnet, type SmallSubnetNodes } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { lostAssignments } from '../chapters/lost-answers.ts';
import { crowdPods } from '../chapters/pods.ts';
import { releaseAddresses, scaleUp } from '../chapters/scaling.ts';
import { byCalls, takeover } from '../chapters/takeover.ts';

export function alibabaCloud({ nodes, seed, pace }: WantedCluster): DemoCloud {
  const topology = alibabaTopology(nodes, seed);
  const random = new Random(seed);
  const cluster = createEmbeddedAlibaba({ topology, clock, random, pace, configure: configureAlibabaNode });
  const { alibaba } = cluster;
  const left = leaveInterfaces(alibaba.network);
  return {
    key: 'alibaba',
    name: 'ECS',
    cluster,
    agents: 'whose agents are asked before an address is released',
    counters: alibaba.gateway.counters,
    ofOthers: left.others,
    releases: true,
    chapters: (context) => alibabaChapters({ ...context, cluster }, left),
    serve: async () => {
      const [credential] = topology.credentials;
      const server = await startAlibabaServer({ gateway: alibaba.gateway, clock, port: 0 });
      const { url, metadataUrl } = server;
      const admin = `${url}/_headwater`;
      return {
        place: `${url} (${topology.region})`,
        credentials: {
          ALIBABA_CLOUD_ACCESS_KEY_ID: credential?.accessKeyId ?? '',
          ALIBABA_CLOUD_ACCESS_KEY_SECRET: credential?.accessKeySecret ?? '',
        },
        notes: [
          'its interfaces are created, attached and deleted five times faster than in life; the keys may do only what docs/ram-policy.json lists',
        ],
        // The region comes from the metadata service.
        flags: [`--alibaba-cloud-endpoint=${url}`, `--alibaba-cloud-metadata-endpoint=${metadataUrl}`],
        thingsToTry: [`curl -s ${admin}/state`],
        thingsToBreak: ({ pid }) =>
          throttleAndKill({
            cloud: 'Alibaba Cloud',
            admin,
            curl: 'curl -s',
            action: 'AssignPrivateIpAddresses',
            inWords: 'every assignment of addresses',
            pid,
          }),
        close: async () => {
          await server.close();
          alibaba.clock.stop();
        },
      };
    },
  };
}

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
