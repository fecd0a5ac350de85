// Causes that a check names on Alibaba Cloud, each staged by itself.
import { describe } from '@jest/globals';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import { plainInterface, terminate } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { belongingTo } from '../../support/orphaned-interfaces.ts';
import { agentCauses, playWell } from './staged-agent-causes.ts';
import { type Causes, clusterCauses, playCauses, type Stage } from './staged-causes.ts';

type Staged = Stage<AlibabaWorld>;

const make = (): AlibabaWorld =>
  new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance({ count: 3 })] }) });

/** A node asks for something else. */
const asking =
  (section: JsonObject) =>
  async ({ world, one }: Staged): Promise<void> =>
    void (await world.patch(one, { spec: { 'alibaba-cloud': section } }));

const refusing =
  (action: string, code: string, status: number) =>
  ({ world }: Staged): void =>
    void world.fault(action, { kind: 'error', code, status, message: 'no' });

/** Another client makes an interface in the vSwitch of the nodes. */
function leave({ world, one }: Staged, tags: Readonly<Record<string, string>>, count = 0): void {
  const request = plainInterface(world.interfaces(one)[0]?.subnetId ?? '', []);
  createInterface(world.cluster.alibaba.network, { ...request, tags, claim: { ...nothing, count } });
}

/** Another client takes all addresses of the vSwitch of the nodes but `left`, and a node uses no other. */
const crowded =
  (left: number) =>
  async (staged: Staged): Promise<void> => {
    const { world, one } = staged;
    const id = world.interfaces(one)[0]?.subnetId ?? '';
    const free = (): number => (world.cluster.alibaba.network.subnets.get(id)?.available ?? 0) - left;
    while (free() > 0) leave(staged, {}, Math.min(free(), 20) - 1);
    await asking({ vswitches: [id] })(staged);
  };

const causes: Causes<AlibabaWorld> = {
  ...clusterCauses({
    section: 'alibaba-cloud',
    operator: 'cilium-operator-alibabacloud',
    allocator: [/^problem other programs: Terway runs on 1 node /, { app: 'terway-eniip' }],
    most: 45,
    releases: 'alibaba-cloud-release-excess-ips',
  }),
  ...agentCauses,
  'collection by the name of no cluster': {
    stage: () => ({ 'cluster-name': 'default' }),
    row: /^warning options: .*default/,
  },
  'credentials that the cloud refuses': {
    stage: refusing('DescribeVpcs', 'InvalidAccessKeyId.NotFound', 404),
    row: /^problem cloud: DescribeVpcs failed: InvalidAccessKeyId\.NotFound/,
  },
  'cloud that does not answer': {
    stage: refusing('DescribeVpcs', 'ServiceUnavailable', 503),
    row: /^unknown cloud: DescribeVpcs failed: ServiceUnavailable/,
  },
  'read that is throttled': {
    stage: ({ world }) => void world.fault('DescribeInstanceTypes', { kind: 'throttle' }),
    row: /^unknown cloud: DescribeInstanceTypes failed: /,
  },
  'read of vSwitches that is denied': {
    stage: refusing('DescribeVSwitches', 'Forbidden.RAM', 403),
    row: /^problem (permissions in the )?cloud: DescribeVSwitches failed: Forbidden\.RAM/,
  },
  'read of interfaces that is denied': {
    stage: refusing('DescribeNetworkInterfaces', 'Forbidden.RAM', 403),
    row: /^problem (permissions in the )?cloud: DescribeNetworkInterfaces failed: Forbidden\.RAM/,
  },
  'read of types that is denied': {
    stage: refusing('DescribeInstanceTypes', 'Forbidden.RAM', 403),
    row: /^problem (permissions in the )?cloud: DescribeInstanceTypes failed: Forbidden\.RAM/,
  },
  'instance that is gone': {
    stage: async ({ world, one }) => {
      terminate(world.cluster.alibaba.network, [one.instanceId]);
      await world.advance(3_600_000);
    },
    row: /^problem instances: the cloud does not show 1 instance /,
  },
  'network that is not served': {
    stage: () => ({ 'alibaba-cloud-vpc-id': 'vpc-elsewhere' }),
    row: /^warning nodes: 2 nodes .* can get no address: /,
  },
  'network that the instance is not in': {
    stage: asking({ 'vpc-id': 'vpc-elsewhere' }),
    row: /^problem nodes: 1 node .* the cloud shows the instance in /,
  },
  'instance type that does not exist': {
    stage: asking({ 'instance-type': 'ecs.none' }),
    row: /^problem nodes: 1 node .* the cloud knows no instance type "ecs\.none"/,
  },
  'vSwitch that does not exist': {
    stage: asking({ vswitches: ['vsw-none'] }),
    row: /^problem subnets: 1 node .* can get no interface: .*vsw-none/,
  },
  'tags that no vSwitch has': {
    stage: asking({ 'vswitch-tags': { purpose: 'nobody' } }),
    row: /^problem subnets: 1 node .* can get no interface: .*purpose=nobody/,
  },
  'filter that leaves no vSwitch': {
    stage: () => ({ 'subnet-ids-filter': 'vsw-none' }),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'filter by tags that leaves no vSwitch': {
    stage: () => ({ 'subnet-tags-filter': 'purpose=nobody' }),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'zone without a vSwitch': {
    stage: asking({ 'availability-zone': 'cn-hangzhou-z' }),
    row: /^problem subnets: 1 node .* can get no interface: .*cn-hangzhou-z/,
  },
  'security group that does not exist': {
    stage: asking({ 'security-groups': ['sg-none'] }),
    row: /^problem selection: of 1 node .*, sg-none is not in vpc-/,
  },
  'tags that no security group has': {
    stage: asking({ 'security-group-tags': { purpose: 'nobody' } }),
    row: /^problem subnets: 1 node .* no security group .*purpose=nobody/,
  },
  'vSwitch that is nearly full': {
    stage: crowded(10),
    row: /^warning subnets: 1 node .* where 10 of 256 addresses are free$/,
  },
  'vSwitch that is full': {
    stage: crowded(0),
    row: /^problem subnets: 1 node .* can get no interface: /,
  },
  'interfaces that a cluster left, which nobody deletes': {
    stage: async (staged) => {
      leave(staged, belongingTo('mine'));
      await staged.world.advance(120_000);
      return { 'eni-gc-interval': '0' };
    },
    row: /^warning orphans: 1 interface .* attached to no instance$/,
  },
  'interfaces of another cluster with the same tags': {
    stage: async (staged) => {
      leave(staged, { ...belongingTo('mine'), 'headwater/instance-id': staged.spare.instanceId });
      await staged.world.advance(120_000);
    },
    row: /^warning orphans: 1 interface .* made for 1 instance .* another cluster may have the same tags$/,
  },
};

describe('a check on Alibaba Cloud names', () => {
  playCauses(make, causes);
});

describe('a check on Alibaba Cloud finds nothing wrong with', () => {
  playWell(make);
});
