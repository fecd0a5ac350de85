// Small clouds on Alibaba Cloud for whole flows: one VPC, one zone, and only what a test overrides. Delays, lags and rate
// limits are those of Alibaba Cloud by default.
import { type AlibabaTopology, readAlibabaTopology } from '../../src/simulator/alibaba/alibaba-topology.ts';

type Section = Readonly<Record<string, unknown>>;

/** An instance of a test cloud; an ecs.g7.xlarge holds 3 interfaces for pods with 15 addresses each. */
export function ecsInstance(change: Section = {}): Section {
  return { name: 'worker', type: 'ecs.g7.xlarge', vSwitch: 'nodes', securityGroups: ['nodes'], ...change };
}

/** Sections of a topology replace those of the plain cloud. */
export function testAlibaba(change: Section = {}): AlibabaTopology {
  const plan = {
    cloud: 'alibabacloud',
    seed: 'test-alibaba',
    vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'] }],
    vSwitches: [
      { name: 'nodes', zone: 'cn-hangzhou-a', block: '10.0.0.0/24' },
      { name: 'pods', zone: 'cn-hangzhou-a', block: '10.0.16.0/20' },
    ],
    securityGroups: [{ name: 'nodes' }],
    instances: [ecsInstance()],
    ...change,
  };
  const read = readAlibabaTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}
