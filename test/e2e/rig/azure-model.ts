// Azure as the cloud of a cluster for a test, with the role of docs/azure-role.json.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accessToAzure } from '../../../rig/model-access.ts';
import { azureTopology, configureAzureNode } from '../../../src/commands/demo/azure/azure-topology.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { startArmServer } from '../../../src/simulator/arm/arm-server.ts';
import { type Arm, createArm } from '../../../src/simulator/arm/create-arm.ts';
import { machinesOf } from '../../../src/simulator/cluster/embedded-cluster.ts';
import type { ServedModel } from './model-cluster.ts';

export async function serveAzureModel(nodes: number): Promise<ServedModel & { readonly arm: Arm }> {
  const topology = azureTopology(nodes, 'e2e');
  const arm = createArm({ topology, clock, random: new Random('e2e') });
  const server = await startArmServer({ gateway: arm.gateway });
  const { network } = arm.cloud;
  return {
    arm,
    network,
    nodes: machinesOf(network, 'azure').map(configureAzureNode),
    access: async (directory) => {
      const caFile = join(directory, 'ca.pem');
      await writeFile(caFile, server.ca);
      return accessToAzure(server, topology, caFile);
    },
    close: async () => {
      await server.close();
      arm.clock.stop();
    },
  };
}
