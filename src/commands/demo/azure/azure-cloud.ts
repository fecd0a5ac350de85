// Azure as the cloud of the demonstration, Resource Manager over HTTPS with an authority of its own; and its chapters.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { startArmServer } from '../../../simulator/arm/arm-server.ts';
import { createEmbeddedAzure } from '../../../simulator/cluster/embedded-cluster.ts';
import { type DemoCloud, halfOfEach, type WantedCluster } from '../demo-cloud.ts';
import { throttleAndKill } from '../things-to-break.ts';
import { azureTopology, configureAzureNode, smallSet, subscription } from './azure-topology.ts';
import type { Burst } from '../../../simulator/workload/workload.ts';
import { type AzureContext, type Chapter, nodesOfSmallSubnet, type SmallSubnetNodes } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { lossesOf, lostAnswers, type LossTarget } from '../chapters/lost-answers.ts';
import { crowdPods, departureOf, latePods, rushPods } from '../chapters/pods.ts';
import { joining, releaseAddresses, scaleUp } from '../chapters/scaling.ts';
import { byCalls, takeover } from '../chapters/takeover.ts';
import { isSettled } from '../picture.ts';

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
            action: update,
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

const update = 'VirtualMachineScaleSetVMs.Update';

export function azureChapters(context: AzureContext): readonly Chapter[] {
  const { cluster, run } = context;
  const nodes = (): SmallSubnetNodes => nodesOfSmallSubnet(cluster, ({ subnetId }) => isSmall(subnetId));
  const underWay = (): number =>
    [...cluster.arm.cloud.operations.all.values()].filter(({ status }) => status === 'InProgress').length;
  // Once they have left, the node holds enough for all pods that follow.
  const crowd = (nodeName: string): Burst => crowdPods(nodeName, 80);
  return [
    joining(),
    scaleUp(context, 'Azure', () => nodes().generous),
    lostAnswers(context, {
      cloud: 'azure',
      faults: cluster.arm.gateway.faults,
      action: update,
      targets: () => vmsOfUniformSet(context),
      next: () => 'the controller reads the VM, and looks for its names',
      hints: [
        `Azure carries out the next updates of ${lossesOf(context) === 1 ? 'a VM' : `${lossesOf(context)} VMs`}, but the answers never arrive.`,
        'Asking again blindly would add addresses twice. Watch what the controller finds out.',
      ],
    }),
    exhaustedSubnet(context, {
      place: `the scale set ${smallSet.name}`,
      kind: 'subnet',
      name: smallSet.subnet,
      id: [...cluster.arm.cloud.subnets.values()].find(({ id }) => isSmall(id))?.path ?? '',
      nodes,
      crowd,
      hint: 'No other scale set notices. Then the pods leave again.',
      relieve: () => run(departureOf(crowd(nodes().inDeficit), 0, 1000)),
    }),
    releaseAddresses(context, {
      nodes,
      agents:
        'The others drop it from what they hold. One update releases everything that a VM has too much.',
    }),
    takeover(context, {
      ...byCalls(cluster.arm.gateway.counters, [update, 'NetworkInterfaces.CreateOrUpdate']),
      hints: [
        'Pods rush in, and the controller is killed in the middle of the updates. Azure goes on with them. Another controller is',
        "started that knows nothing of them. It leads when the dead one's Lease has ended, and learns from Azure what is changing.",
      ],
      title: 'SIGKILL and recovery',
      isTime: (elapsed) => elapsed >= 5000 || underWay() >= Math.min(5, Math.ceil(context.nodes / 4)),
      leftBehind: () => `${underWay()} updates that Azure has not ended`,
      beginChanges: () => run(rushPods(context.nodes)),
      meanwhile: () => run(latePods(context.nodes)),
      isMended: (picture) => isSettled(picture, false),
    }),
  ];
}

/** All except the small set, whose nodes have their own chapter. */
function vmsOfUniformSet({ cluster: { arm, workload } }: AzureContext): readonly LossTarget[] {
  const { cloud } = arm;
  const nodes = new Map(workload.views.map(({ facts, nodeName }) => [facts.instanceId, nodeName]));
  return [...cloud.machines.current.values()]
    .filter(
      ({ instanceId, scaleSetId = '' }) =>
        instanceId !== undefined && !scaleSetId.endsWith(`/${smallSet.name}`),
    )
    .map(({ id }) => ({
      name: 'its VM',
      node: nodes.get(id) ?? id,
      match: { path: id },
      // Also those of an update that has not ended.
      held: () =>
        cloud
          .interfacesOf(cloud.machine(id))
          .flatMap(({ configurations }) => configurations)
          .flatMap(({ isPrimary, address }) => (isPrimary || address === undefined ? [] : [address])),
    }));
}

function isSmall(subnetId: string): boolean {
  return subnetId.endsWith(`/${smallSet.subnet}`);
}
