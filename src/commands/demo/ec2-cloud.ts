// EC2 as the cloud of the demonstration.
import { Random } from '../../runtime/random.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { createEmbeddedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { startEc2Server } from '../../simulator/ec2/ec2-server.ts';
import { chaptersFor } from './chapters.ts';
import { type DemoCloud, halfOfEach, type WantedCluster } from './demo-cloud.ts';
import { configureNode, demoTopology } from './demo-topology.ts';
import { thingsToBreak } from './things-to-break.ts';

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
