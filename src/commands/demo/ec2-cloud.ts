// EC2 as the cloud of the demonstration, and its chapters.
import { Random } from '../../runtime/random.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { createEmbeddedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { startEc2Server } from '../../simulator/ec2/ec2-server.ts';
import { type DemoCloud, halfOfEach, type WantedCluster } from './demo-cloud.ts';
import { configureNode, demoTopology, isInSmallZone, smallZone } from './demo-topology.ts';
import { thingsToBreak } from './things-to-break.ts';
import { type Chapter, type Ec2Context, nodesOfSmallSubnet, type SmallSubnetNodes } from './chapter.ts';
import { exhaustedSubnet } from './chapters/exhausted-subnet.ts';
import { lostAssignments } from './chapters/lost-answers.ts';
import { crowdPods } from './chapters/pods.ts';
import { joining, releaseAddresses, scaleUp } from './chapters/scaling.ts';
import { failover } from './chapters/takeover.ts';

export function ec2Cloud({ nodes, seed, pace }: WantedCluster): DemoCloud {
  const topology = demoTopology(nodes, seed);
  const { region } = topology;
  const random = new Random(seed);
  const cluster = createEmbeddedCluster({ topology, clock, random, pace, configure: configureNode });
  const { ec2 } = cluster;
  return {
    key: 'aws',
    name: 'EC2',
    cluster,
    agents: `${halfOfEach}, and those of the newer one with IPv6`,
    counters: ec2.gateway.counters,
    releases: true,
    chapters: (context) => chaptersFor({ ...context, cluster }),
    serve: async () => {
      const [credential] = ec2.gateway.credentials;
      if (credential === undefined) throw new Error('the cloud of the demonstration has no credentials');
      const { accessKeyId, secretAccessKey } = credential;
      const server = await startEc2Server({ gateway: ec2.gateway, clock, port: 0 });
      const { url: endpoint } = server;
      return {
        place: `${endpoint} (${region})`,
        credentials: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
        notes: [],
        flags: [`--ec2-api-endpoint=${endpoint}`, `--aws-region=${region}`],
        thingsToTry: [
          `aws ec2 describe-network-interfaces --endpoint-url ${endpoint} --region ${region}    (with the credentials above)`,
        ],
        thingsToBreak: (at) => thingsToBreak(cluster, { ...at, endpoint, region }),
        close: async () => {
          await server.close();
          ec2.clock.stop();
        },
      };
    },
  };
}

export function chaptersFor(context: Ec2Context): readonly Chapter[] {
  const nodes = (): SmallSubnetNodes => nodesOfSmallSubnet(context.cluster, isInSmallZone);
  const subnets = [...context.cluster.network.subnets.values()];
  return [
    joining(),
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
