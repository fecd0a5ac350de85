// Alibaba Cloud as the cloud of the demonstration: the RPC APIs of ECS and VPC, and the metadata of an instance.
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { startAlibabaServer } from '../../../simulator/alibaba/alibaba-server.ts';
import { createEmbeddedAlibaba } from '../../../simulator/cluster/embedded-cluster.ts';
import type { DemoCloud, WantedCluster } from '../demo-cloud.ts';
import { throttleAndKill } from '../things-to-break.ts';
import { alibabaChapters } from './alibaba-chapters.ts';
import { alibabaTopology, configureAlibabaNode, leaveInterfaces } from './alibaba-topology.ts';

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
