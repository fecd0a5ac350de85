// Azure as the cloud of the demonstration: Resource Manager over HTTPS, with an authority of its own.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { startArmServer } from '../../../simulator/arm/arm-server.ts';
import { createEmbeddedAzure } from '../../../simulator/cluster/embedded-cluster.ts';
import { type DemoCloud, halfOfEach, type WantedCluster } from '../demo-cloud.ts';
import { throttleAndKill } from '../things-to-break.ts';
import { azureChapters } from './azure-chapters.ts';
import { azureTopology, configureAzureNode, subscription } from './azure-topology.ts';

export function azureCloud({ nodes, seed, pace }: WantedCluster): DemoCloud {
  const topology = azureTopology(nodes, seed);
  const random = new Random(seed);
  const cluster = createEmbeddedAzure({ topology, clock, random, pace, configure: configureAzureNode });
  const { arm } = cluster;
  return {
    key: 'azure',
    name: 'Azure',
    cluster,
    agents: halfOfEach,
    counters: arm.gateway.counters,
    // Its releases take updates of up to six seconds: the run does not wait for all of them.
    releases: false,
    chapters: (context) => azureChapters({ ...context, cluster }),
    serve: async (directory) => {
      const [principal] = topology.principals;
      const server = await startArmServer({ gateway: arm.gateway });
      const caFile = join(directory, 'azure-ca.pem');
      await writeFile(caFile, server.ca);
      const { url, metadataUrl } = server;
      const identity = {
        AZURE_TENANT_ID: topology.tenant,
        AZURE_CLIENT_ID: principal?.clientId ?? '',
        AZURE_CLIENT_SECRET: principal?.secret ?? '',
      };
      const ask = `curl -s --cacert ${caFile}`;
      return {
        place: `${url} (${topology.location})`,
        credentials: identity,
        notes: [
          `its updates of VMs end ten times faster than in life; the identity may do only what docs/azure-role.json lists`,
        ],
        flags: [`--azure-endpoint=${url}`, `--azure-metadata-endpoint=${metadataUrl}`],
        environment: { AZURE_AUTHORITY_HOST: url, NODE_EXTRA_CA_CERTS: caFile },
        thingsToTry: [
          `TOKEN=$(${ask} ${url}/${topology.tenant}/oauth2/v2.0/token -d grant_type=client_credentials -d client_id=${identity.AZURE_CLIENT_ID} -d client_secret=${identity.AZURE_CLIENT_SECRET} -d scope=https://management.azure.com/.default | grep -o '"access_token":"[^"]*' | cut -d '"' -f 4)`,
          `${ask} -H "authorization: Bearer $TOKEN" '${url}/subscriptions/${subscription}/resourceGroups/MC_production/providers/Microsoft.Compute/virtualMachineScaleSets/uniform/networkInterfaces?api-version=2018-10-01'`,
        ],
        thingsToBreak: ({ pid }) =>
          throttleAndKill({
            cloud: 'Azure',
            admin: `${url}/_headwater`,
            curl: ask,
            action: 'VirtualMachineScaleSetVMs.Update',
            inWords: 'every update of a VM of a Uniform scale set',
            pid,
          }),
        close: async () => {
          await server.close();
          arm.clock.stop();
        },
      };
    },
  };
}
