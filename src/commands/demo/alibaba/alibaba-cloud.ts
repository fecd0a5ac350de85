// Alibaba Cloud as the cloud of the demonstration: the RPC APIs of ECS and VPC, and the metadata of an instance.
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { startAlibabaServer } from '../../../simulator/alibaba/alibaba-server.ts';
import { createEmbeddedAlibaba } from '../../../simulator/cluster/embedded-cluster.ts';
import type { DemoCloud } from '../demo-cloud.ts';
import { alibabaChapters } from './alibaba-chapters.ts';
import { alibabaTopology, configureAlibabaNode, leaveInterfaces } from './alibaba-topology.ts';

export function alibabaCloud(wanted: {
  readonly nodes: number;
  readonly seed: string;
  readonly pace: number;
}): DemoCloud {
  const { nodes, seed, pace } = wanted;
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
      const environment = {
        ALIBABA_CLOUD_ACCESS_KEY_ID: credential?.accessKeyId ?? '',
        ALIBABA_CLOUD_ACCESS_KEY_SECRET: credential?.accessKeySecret ?? '',
      };
      return {
        place: `${url} (${topology.region})`,
        credentials: Object.entries(environment)
          .map(([name, value]) => `${name}=${value}`)
          .join(' '),
        notes: [
          'its interfaces are created, attached and deleted five times faster than in life; the keys may do only what docs/ram-policy.json lists',
        ],
        // The region comes from the metadata service.
        flags: [`--alibaba-cloud-endpoint=${url}`, `--alibaba-cloud-metadata-endpoint=${metadataUrl}`],
        environment,
        thingsToTry: [`curl -s ${admin}/state`],
        thingsToBreak: ({ pid }) => [
          '',
          `Things to break; the state and the faults of this Alibaba Cloud: ${admin}/state, ${admin}/faults`,
          '  # 1. throttle every assignment of addresses, and permit them again',
          `  curl -s ${admin}/faults -d '{"action":"AssignPrivateIpAddresses","fault":{"kind":"throttle"}}'`,
          `  curl -s -X DELETE ${admin}/faults`,
          '  # 2. kill the controller: another one follows',
          `  kill -9 ${pid}`,
        ],
        close: async () => {
          await server.close();
          alibaba.clock.stop();
        },
      };
    },
  };
}
