// Causes that a check names on EC2, each staged by itself.
import { describe } from '@jest/globals';
import { createReservation } from '../../../src/simulator/cloud/subnets.ts';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { GivenFlags } from '../../support/given-options.ts';
import { belongingTo, leave } from '../../support/orphaned-interfaces.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { agentCauses, playWell } from './staged-agent-causes.ts';
import { type Causes, clusterCauses, playCauses, type Stage } from './staged-causes.ts';

const make = (): World => new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });

const reads = 'Instances InstanceTypes NetworkInterfaces RouteTables SecurityGroups Subnets Vpcs'.split(' ');
const changes = [
  'AttachNetworkInterface',
  'CreateNetworkInterface',
  'CreateTags',
  'DeleteNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
];

/** The cloud permits everything that a check asks, but these. */
const denying =
  (...denied: readonly string[]) =>
  ({ world }: Stage<World>): void => {
    const actions = [...reads.map((what) => `Describe${what}`), ...changes];
    world.cluster.ec2.gateway.allowedActions = new Set(actions.filter((action) => !denied.includes(action)));
  };

const minute = 60_000;
const byTag = { 'cluster-name': 'tag=aws:eks:cluster-name' };

/** EKS sets the name of the cluster. */
function retag({ world, ...machines }: Stage<World>, machine: 'one' | 'two', name: string): void {
  const { network } = world.cluster.ec2;
  const instance = network.find('instances', machines[machine].instanceId);
  network.put('instances', { ...instance, tags: { 'aws:eks:cluster-name': name } });
}

/** A node asks for something else. */
const asking =
  (eni: JsonObject) =>
  async ({ world, one }: Stage<World>): Promise<void> =>
    void (await world.patch(one, { spec: { eni } }));

/** Another client takes all addresses of a subnet but `left`, and nodes may use no other. */
const crowded =
  (left: number) =>
  async ({ world }: Stage<World>): Promise<GivenFlags> => {
    world.occupy(ids.nodes, left);
    await world.advance(120_000);
    return { 'subnet-ids-filter': ids.nodes };
  };

/** The owner of the subnet of the nodes reserves a part of it. */
const reserving =
  (block: string, type: 'explicit' | 'prefix') =>
  ({ world }: Stage<World>): void =>
    void createReservation(world.cluster.ec2.network, {
      subnetId: ids.nodes,
      block,
      type,
      description: 'test',
      tags: {},
    });

const causes: Causes<World> = {
  ...clusterCauses({
    section: 'eni',
    operator: 'cilium-operator-aws',
    allocator: [
      /^problem other programs: the VPC CNI plugin \(aws-node\) runs on 1 node /,
      { 'k8s-app': 'aws-node' },
    ],
    most: 27,
    releases: 'aws-release-excess-ips',
  }),
  ...agentCauses,
  'collection by the name of no cluster': {
    stage: () => ({ 'cluster-name': 'default' }),
    row: /^warning options: .*default/,
  },
  'name that EKS gives, and that nobody asks for': {
    stage: async (stage) => {
      retag(stage, 'one', 'blue');
      await stage.world.advance(minute);
      return { 'cluster-name': 'default' };
    },
    row: /^warning cluster name: the tag aws:eks:cluster-name of 1 instance says blue, and the option cluster-name does not ask for it$/,
  },
  'name that no instance carries': {
    stage: () => byTag,
    row: /^problem cluster name: none of the instances that Nodes name carries the tag aws:eks:cluster-name /,
  },
  'names of two clusters': {
    stage: async (stage) => {
      retag(stage, 'one', 'blue');
      retag(stage, 'two', 'green');
      await stage.world.advance(minute);
      return byTag;
    },
    row: /^problem cluster name: instances of its Nodes carry 2 names in the tag .*"blue" on .*"green" on /,
  },
  'name whose read is denied': {
    stage: (stage) => {
      denying('DescribeInstances')(stage);
      return byTag;
    },
    row: /^problem cluster name: the tag aws:eks:cluster-name cannot be read: /,
  },
  'name whose read is throttled': {
    stage: ({ world }) => {
      world.fault('DescribeInstances', { kind: 'throttle' });
      return byTag;
    },
    row: /^unknown cluster name: the tag aws:eks:cluster-name cannot be read: /,
  },
  'orphan with the name that EKS gives': {
    stage: async (stage) => {
      retag(stage, 'one', 'blue');
      leave(stage.world, { tags: belongingTo('blue') });
      await stage.world.advance(minute);
      return { ...byTag, 'eni-gc-interval': '0' };
    },
    row: /^warning orphans: 1 interface .* with the tags of this cluster is attached to no instance$/,
  },
  'credentials that the cloud refuses': {
    stage: ({ world }) =>
      void world.fault('DescribeVpcs', { kind: 'error', code: 'AuthFailure', status: 401, message: 'no' }),
    row: /^problem cloud: DescribeVpcs failed: AuthFailure/,
  },
  'cloud that does not answer': {
    stage: ({ world }) =>
      void world.fault('DescribeVpcs', {
        kind: 'error',
        code: 'ServiceUnavailable',
        status: 503,
        message: 'no',
      }),
    row: /^unknown cloud: DescribeVpcs failed: ServiceUnavailable/,
  },
  'read that is throttled': {
    stage: ({ world }) => void world.fault('DescribeInstanceTypes', { kind: 'throttle' }),
    row: /^unknown cloud: DescribeInstanceTypes failed: /,
  },
  'read of subnets that is denied': {
    stage: denying('DescribeSubnets'),
    row: /^problem permissions in the cloud: DescribeSubnets failed: UnauthorizedOperation/,
  },
  'read of few nodes that is denied': {
    stage: denying('DescribeInstances'),
    row: /^problem permissions in the cloud: DescribeInstances is denied: UnauthorizedOperation/,
  },
  'read of types that is denied': {
    stage: denying('DescribeInstanceTypes'),
    row: /^problem permissions in the cloud: DescribeInstanceTypes failed: UnauthorizedOperation/,
  },
  'read of security groups that is denied': {
    stage: denying('DescribeSecurityGroups'),
    row: /^problem permissions in the cloud: DescribeSecurityGroups failed: UnauthorizedOperation/,
  },
  'change that is denied': {
    stage: denying('CreateNetworkInterface'),
    row: /^problem permissions in the cloud: CreateNetworkInterface is denied: UnauthorizedOperation/,
  },
  'instance that is gone': {
    stage: async ({ world, one }) => {
      terminate(world.cluster.ec2.network, [one.instanceId]);
      await world.advance(3_600_000);
    },
    row: /^problem instances: the cloud does not show 1 instance /,
  },
  'network that is not served': {
    stage: () => ({ 'vpc-id': 'vpc-00000000000000009' }),
    row: /^warning nodes: 2 nodes .* can get no address: /,
  },
  'network that the instance is not in': {
    stage: asking({ 'vpc-id': 'vpc-00000000000000009' }),
    row: /^problem nodes: 1 node .* spec\.eni\.vpc-id is vpc-00000000000000009 and the cloud shows /,
  },
  'instance type that does not exist': {
    stage: asking({ 'instance-type': 'z9.large' }),
    row: /^problem nodes: 1 node .* the cloud knows no instance type "z9\.large"/,
  },
  'subnet that does not exist': {
    stage: asking({ 'subnet-ids': ['subnet-00000000000000009'] }),
    row: /^warning selection: of 1 node .*, subnet-00000000000000009 is not in vpc-/,
  },
  'tags that no subnet has, or that the owner of a shared one hides': {
    stage: asking({ 'subnet-tags': { purpose: 'nobody' } }),
    row: /^warning selection: of 1 node .*, purpose=nobody matches the tags of no subnet /,
  },
  'filter that leaves no subnet': {
    stage: () => ({ 'subnet-ids-filter': 'subnet-00000000000000009' }),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'filter by tags that leaves no subnet': {
    stage: () => ({ 'subnet-tags-filter': 'purpose=nobody' }),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'zone without a subnet': {
    stage: asking({ 'availability-zone': 'us-east-1z' }),
    row: /^problem subnets: 1 node .* can get no interface: .*us-east-1z/,
  },
  'security group that does not exist': {
    stage: asking({ 'security-groups': ['sg-00000000000000009'] }),
    row: /^problem selection: of 1 node .*, sg-00000000000000009 is not in vpc-/,
  },
  'tags that no security group has': {
    stage: asking({ 'security-group-tags': { purpose: 'nobody' } }),
    row: /^problem subnets: 1 node .* no security group .*purpose=nobody/,
  },
  'subnet that is nearly full': {
    stage: crowded(10),
    row: /^warning subnets: 2 nodes .* get interfaces in subnet-0000000000000000a .* where 10 of 256 addresses are free$/,
  },
  'subnet that is full': {
    stage: crowded(0),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'subnet without room for a prefix': {
    stage: async (staged) => ({ ...(await crowded(12)(staged)), 'aws-enable-prefix-delegation': 'true' }),
    row: /^problem subnets: 2 nodes .* can get no interface: /,
  },
  'reservation that keeps addresses of a subnet that is nearly full': {
    stage: async (staged) => {
      reserving('10.0.0.128/25', 'explicit')(staged);
      return crowded(10)(staged);
    },
    row: /^warning reservations: beside 10 free addresses, subnet-0000000000000000a has 128 that are reserved: 10\.0\.0\.128\/25 for addresses that a request names$/,
  },
  'reservation for prefixes that keeps a subnet full': {
    stage: async (staged) => {
      reserving('10.0.0.128/25', 'prefix')(staged);
      return crowded(0)(staged);
    },
    row: /^warning reservations: beside 0 free addresses, subnet-0000000000000000a has 128 that are reserved: 10\.0\.0\.128\/25 for prefixes$/,
  },
  'interfaces that a cluster left, which nobody deletes': {
    stage: async ({ world }) => {
      leave(world, { tags: belongingTo('mine') });
      await world.advance(120_000);
      return { 'eni-gc-interval': '0' };
    },
    row: /^warning orphans: 1 interface .* attached to no instance$/,
  },
  'interfaces of another cluster with the same tags': {
    stage: async ({ world, spare: { instanceId } }) => {
      leave(world, { tags: { ...belongingTo('mine'), 'headwater/instance-id': instanceId } });
      await world.advance(120_000);
    },
    row: /^warning orphans: 1 interface .* made for 1 instance .* another cluster may have the same tags$/,
  },
};

describe('a check on EC2 names', () => {
  playCauses(make, causes);
});

describe('a check on EC2 finds nothing wrong with', () => {
  playWell(make);
});
