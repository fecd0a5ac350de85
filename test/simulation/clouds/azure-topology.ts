// The initial Azure of a scenario: a scale set with a subnet of its own for each zone of the plan.
import type { ArmTopology } from '../../../src/simulator/arm/arm-topology.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { otherPrincipal, testAzure } from '../../support/azure-cloud.ts';
import type { Scenario } from '../scenario.ts';

/** More processes than a simulation starts. */
const maxProcesses = 400;

/** What a node asks for that is to get a public address. */
export const publicIpTags = { pool: 'egress' };

/** The name of the only interface with addresses for pods on a VM; undefined: each has some. */
export function podInterfaceOf(
  { azure }: Scenario,
  { subnetId }: Pick<NodeFacts, 'subnetId'>,
): string | undefined {
  const zone = Number(/\/pods-(\d+)$/.exec(subnetId)?.[1]);
  const index = azure?.podInterfaces?.[zone] ?? 0;
  return index === 0 ? undefined : `nic${index}`;
}

export function armTopologyOf(scenario: Scenario): ArmTopology {
  const { zones, nodes, cloud, azure } = scenario;
  if (azure === undefined) throw new Error(`${scenario.seed} is no scenario of Azure`);
  const names = [...Array.from({ length: maxProcesses }, (_, index) => `headwater-${index}`), otherPrincipal];
  return testAzure({
    seed: scenario.seed,
    principals: names.map((name, index) => ({
      name,
      clientId: `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`,
      secret: name,
    })),
    virtualNetworks: [
      {
        name: 'main',
        blocks: ['10.0.0.0/16'],
        subnets: zones.map(({ podBlocks }, index) => ({ name: `pods-${index}`, block: podBlocks[0] })),
      },
    ],
    publicIpPrefixes:
      azure.publicIpPrefix === undefined
        ? []
        : [{ name: 'egress', block: `203.0.113.0/${azure.publicIpPrefix}`, tags: publicIpTags }],
    scaleSets: zones.map((_, index) => ({
      name: `set-${index}`,
      mode: azure.modes[index],
      count: nodes.filter(({ zone }) => zone === index).length,
      interfaces: Array.from({ length: azure.interfaces?.[index] ?? 1 }, (__, nic) => ({
        name: `nic${nic}`,
        subnet: `pods-${index}`,
      })),
    })),
    limits: { scale: cloud.limits },
    consistency: { listingLagMs: { min: 0, max: cloud.listingLagMs } },
    times: { machineMs: azure.operationMs, interfaceMs: azure.operationMs },
    operations: { headers: azure.headers, retryAfter: azure.retryAfter },
    pageSize: azure.pageSize,
    respelled: azure.respelled,
    reuse: cloud.reuse,
  });
}
