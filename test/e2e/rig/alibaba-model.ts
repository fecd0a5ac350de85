// Alibaba Cloud as the cloud of a cluster for a test, with the policy of docs/ram-policy.json.
import { accessToAlibaba } from '../../../rig/model-access.ts';
import {
  alibabaTopology,
  configureAlibabaNode,
} from '../../../src/commands/demo/alibaba/alibaba-topology.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { startAlibabaServer } from '../../../src/simulator/alibaba/alibaba-server.ts';
import { type Alibaba, createAlibaba } from '../../../src/simulator/alibaba/create-alibaba.ts';
import { machinesOf } from '../../../src/simulator/cluster/embedded-cluster.ts';
import type { ServedModel } from './model-cluster.ts';

export async function serveAlibabaModel(nodes: number): Promise<ServedModel & { readonly alibaba: Alibaba }> {
  const topology = alibabaTopology(nodes, 'e2e');
  const alibaba = createAlibaba({ topology, clock, random: new Random('e2e') });
  const { gateway, network } = alibaba;
  const server = await startAlibabaServer({ gateway, clock, port: 0 });
  return {
    alibaba,
    network,
    nodes: machinesOf(network, 'alibabacloud').map(configureAlibabaNode),
    access: () => Promise.resolve(accessToAlibaba(server, topology)),
    close: async () => {
      await server.close();
      alibaba.clock.stop();
    },
  };
}
