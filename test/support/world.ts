// A cluster on EC2 in one process and in virtual time.
import { composeAws } from '../../src/controller/clouds/aws.ts';
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import { nothing } from '../../src/simulator/cloud/claims.ts';
import type { Faults } from '../../src/simulator/cloud/faults.ts';
import { formatIpv4, parseIpv4Block, sizeOf } from '../../src/simulator/cloud/ipv4.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface, deleteInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { Topology } from '../../src/simulator/cloud/topology.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from '../../src/simulator/cluster/embedded-cluster.ts';
import { detachedInterfaces } from '../../src/simulator/cluster/invariants.ts';
import { type JsonObject, objectAt } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { IamPolicy } from '../../src/simulator/ec2/iam-policy.ts';
import { type CallingProcess, ClusterWorld, type ClusterWorldOptions } from './cluster-world.ts';
import { controllerArn, InProcessEc2 } from './in-process-ec2.ts';
import { missDenied } from './missed-permissions.ts';
import { networkAccountPolicy, shippedPolicy } from './shipped-policy.ts';
import { testCloud } from './test-cloud.ts';

/** The identity in another account that a role of the options stands for, as the model knows it. */
export const networkRoleArn = 'arn:aws:iam::444455556666:user/headwater-network';

export interface WorldOptions extends ClusterWorldOptions {
  readonly cloud?: Topology;
  /** What controllers may do in EC2: by default what the shipped policy allows, and no test may need more. */
  readonly policy?: IamPolicy;
}

export class World extends ClusterWorld<EmbeddedCluster> {
  readonly flags = {};

  constructor({ cloud = testCloud(), policy, ...options }: WorldOptions = {}) {
    super(options, (rest) => createEmbeddedCluster({ ...rest, topology: cloud }));
    const { gateway } = this.cluster.ec2;
    gateway.policies.set(controllerArn, policy ?? shippedPolicy);
    gateway.policies.set(networkRoleArn, networkAccountPolicy);
    if (policy === undefined) gateway.onChecked = missDenied;
  }

  connect({ pass, onCall, tamper }: CallingProcess): (deps: CloudDeps) => Cloud {
    const inner = new InProcessEc2(this.cluster.ec2.gateway, onCall);
    const api: Ec2Api = {
      send: async <A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending) => {
        const send = (): Promise<object> => inner.send(action, withoutOwnToken(input), sending);
        const output = await pass(action, !/^(?:Describe|Get)/.test(action), send);
        return tamper(action, output, input) as Ec2Output<A>;
      },
    };
    const owner = new InProcessEc2(this.cluster.ec2.gateway, onCall, networkRoleArn);
    const ofNetworkAccount: Ec2Api = {
      send: (action, input, sending) => pass(action, false, () => owner.send(action, input, sending)),
    };
    return (deps) => composeAws(api, deps, ofNetworkAccount);
  }

  protected get faults(): Faults {
    return this.cluster.ec2.gateway.faults;
  }

  /** Another client takes all addresses of a subnet but `left`; the result frees them. */
  occupy(subnetId: string, left = 0): () => void {
    const { network } = this.cluster.ec2;
    const free = (): number => (network.subnets.get(subnetId)?.available ?? 0) - left;
    const taken: NetworkInterface[] = [];
    while (free() > 0) {
      const claim = { ...nothing, count: Math.min(free(), 50) - 1 };
      taken.push(createInterface(network, { ...plainInterface(subnetId, []), claim }));
    }
    return () => taken.forEach(({ id }) => deleteInterface(network, id));
  }

  /** The first address of each empty /28 block of a subnet. */
  wholeBlocks(subnetId: string): readonly number[] {
    const { network } = this.cluster.ec2;
    const block = parseIpv4Block(network.find('subnets', subnetId).block);
    if (block === undefined) throw new RangeError(`${subnetId} has no block`);
    const space = network.space(subnetId);
    return Array.from({ length: sizeOf(block) / 16 }, (_, index) => block.first + index * 16).filter(
      (first) => space.obstacleToPrefix({ first, length: 28 }) === undefined,
    );
  }

  /** Another client takes one address of each block of a subnet but `whole` of them; the result frees them. */
  fragment(subnetId: string, whole = 0): () => void {
    const { network } = this.cluster.ec2;
    // One in the middle of each, because the cloud reserves the first and the last ones.
    const addresses = this.wholeBlocks(subnetId)
      .slice(whole)
      .map((first) => formatIpv4(first + 7));
    const made: NetworkInterface[] = [];
    while (addresses.length > 0) {
      const claim = { ...nothing, addresses: addresses.splice(0, 50) };
      made.push(createInterface(network, { ...plainInterface(subnetId, []), claim }));
    }
    return () => made.forEach(({ id }) => deleteInterface(network, id));
  }

  /** Orphaned interfaces of controllers. */
  orphaned(): readonly NetworkInterface[] {
    return detachedInterfaces(this.cluster).filter(({ tags }) => tags['io.cilium/cilium-managed'] === 'true');
  }

  /** Published interfaces by id. */
  enis(machine: Pick<NodeFacts, 'name'>): JsonObject {
    return objectAt(this.ciliumNode(machine), 'status', 'eni', 'enis');
  }
}

/** Only the test knows its tokens. */
function withoutOwnToken<T extends object>(input: T): T {
  const { NextToken: token = '' } = input as { NextToken?: string };
  return token.startsWith('test-') ? { ...input, NextToken: undefined } : input;
}
