// The initial Alibaba Cloud of a scenario: vSwitches for nodes and for pods in each zone.
import type { AlibabaTopology } from '../../../src/simulator/alibaba/alibaba-topology.ts';
import { testAlibaba } from '../../support/alibaba-cloud.ts';
import type { Scenario } from '../scenario.ts';

/** More processes than a simulation starts. */
const maxProcesses = 400;

export const podTags = { purpose: 'pods' };

export function alibabaTopologyOf(scenario: Scenario): AlibabaTopology {
  const { zones, nodes, cloud, alibaba } = scenario;
  if (alibaba === undefined) throw new Error(`${scenario.seed} is no scenario of Alibaba Cloud`);
  return testAlibaba({
    seed: scenario.seed,
    credentials: Array.from({ length: maxProcesses }, (_, index) => ({
      accessKeyId: `LTAIHEADWATER${index}`,
      accessKeySecret: 'secret',
      user: `headwater-${index}`,
    })),
    vSwitches: zones.flatMap(({ zone, nodeBlock, podBlocks }, index) => [
      { name: `nodes-${index}`, zone, block: nodeBlock },
      ...podBlocks.map((block, at) => ({ name: `pods-${index}-${at}`, zone, block, tags: podTags })),
    ]),
    instances: nodes.map(({ type, zone }, index) => ({
      name: `node-${index}`,
      type,
      vSwitch: `nodes-${zone}`,
      securityGroups: ['nodes'],
    })),
    limits: { scale: cloud.limits },
    consistency: {
      visibilityDelayMs: { min: 0, max: cloud.visibilityDelayMs },
      listingLagMs: { min: 0, max: cloud.listingLagMs },
    },
    times: { attachMs: alibaba.attachMs, createMs: alibaba.createMs },
    reuse: cloud.reuse,
  });
}
