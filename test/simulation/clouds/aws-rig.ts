// EC2 in a simulation.
import { composeAws } from '../../../src/controller/clouds/aws.ts';
import type { Cloud, CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import type { Ec2Api } from '../../../src/providers/aws/ec2-api.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { Faults } from '../../../src/simulator/cloud/faults.ts';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import {
  createEmbeddedCluster,
  type EmbeddedCluster,
} from '../../../src/simulator/cluster/embedded-cluster.ts';
import { listAt, type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { InProcessEc2, type OnCall } from '../../support/in-process-ec2.ts';
import { cloudPort } from '../ports.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Scenario } from '../scenario.ts';
import { ElasticIps } from './elastic-ips.ts';
import { launchLike, terminateOnceShown } from './launched-instances.ts';
import { occupy } from './occupied-subnet.ts';
import { roomOn } from './subnet-room.ts';
import { nodeGroup, podGroup, podSubnetIds, topologyOf } from '../topology.ts';
import { WireEc2 } from '../wire-ec2.ts';
import type { ActingCall, CloudPath, CloudRig, RigHooks, RigOptions } from './cloud-rig.ts';

export class AwsRig implements CloudRig {
  readonly cloud = 'aws';
  readonly cluster: EmbeddedCluster;
  readonly maxCall = 20_000;
  readonly untilUsable = 0;
  readonly podSubnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly publicAddresses: ElasticIps;
  readonly #clock: VirtualClock;
  readonly #path: CloudPath;

  constructor(scenario: Scenario, { clock, path, create }: RigOptions) {
    this.cluster = createEmbeddedCluster({ ...create, topology: topologyOf(scenario) });
    this.#tagPrimaries(scenario);
    this.publicAddresses = new ElasticIps(this.cluster.network);
    this.podSubnets = podSubnetIds(scenario);
    this.securityGroups = [scenario.hasPodVpc === true ? podGroup : nodeGroup];
    this.#clock = clock;
    this.#path = path;
  }

  get faults(): Faults {
    return this.cluster.ec2.gateway.faults;
  }

  connect(process: SimulatedProcess, hooks: RigHooks): (deps: CloudDeps) => Cloud {
    const api = cloudPort(process, this.#apiFor(process, hooks), hooks);
    return (deps) => composeAws(api, deps);
  }

  isChange(action: string): boolean {
    return !action.startsWith('Describe');
  }

  acting(): ActingCall | undefined {
    const { acting } = this.cluster.ec2.gateway;
    if (acting === undefined) return undefined;
    const { action, caller } = acting;
    const unassigns = action === 'UnassignPrivateIpAddresses';
    return { action, identity: caller.arn.replace(/.*\//, ''), unassigns };
  }

  instanceOfCall(input: Readonly<Record<string, unknown>>): string {
    const { InstanceId: instanceId, NetworkInterfaceId: id, AttachmentId: attachmentId } = input;
    if (typeof instanceId === 'string') return instanceId;
    const { interfaces } = this.cluster.network;
    if (typeof id === 'string') return interfaces.get(id)?.instanceId ?? '';
    if (typeof attachmentId !== 'string') return taggedInstance(input);
    const item = [...interfaces.values()].find(({ attachment }) => attachment?.id === attachmentId);
    return item?.instanceId ?? '';
  }

  instancesRead(action: string, input: JsonObject): readonly string[] {
    if (action !== 'DescribeNetworkInterfaces') return [];
    const filters = listAt(input, 'Filters');
    // A request for detached interfaces shows nothing of instances.
    if (filters.some((filter) => listAt(filter, 'Values').includes('available'))) return [];
    const byInstance = filters.filter((filter) => textAt(filter, 'Name') === 'attachment.instance-id');
    return byInstance.length === 0
      ? ['*']
      : byInstance.flatMap((filter) => listAt(filter, 'Values').map(String));
  }

  /** The launch template of a node that excludes its primary interface by tags gives it those. */
  #tagPrimaries({ nodes }: Scenario): void {
    const { network } = this.cluster;
    for (const [index, { interfaceIds }] of [...network.instances.values()].entries()) {
      const tags = nodes[index]?.eni.excludeInterfaceTags;
      const item = network.interfaces.get(interfaceIds[0] ?? '');
      if (tags !== undefined && item !== undefined) network.put('interfaces', { ...item, tags });
    }
  }

  launch(like: NodeFacts): Pick<NodeFacts, 'instanceId' | 'primaryAddress'> | undefined {
    const { network } = this.cluster;
    return launchLike(network, like, () => ({
      reservationId: network.newId('r'),
      imageId: 'ami-0123456789abcdef0',
      request: {
        ...plainInterface(like.subnetId, [nodeGroup]),
        tags: like.eni?.excludeInterfaceTags ?? {},
      },
    }));
  }

  terminate(instanceId: string): void {
    terminateOnceShown(this.cluster.network, instanceId, this.#clock);
  }

  roomFor({ facts }: NodeView): number {
    return roomOn(this.cluster.network, facts);
  }

  occupy(subnetId: string, left: number): () => void {
    return occupy(this.cluster.network, subnetId, left);
  }

  slowDown(): void {
    // Empty: a call of EC2 ends with its answer.
  }

  madeByOthers(): number {
    return 0;
  }

  isChanging(): boolean {
    return false;
  }

  isAwaited(): boolean {
    return false;
  }

  isReadInLists(): boolean {
    return true;
  }

  judge(): void {
    // Empty: what holds on every cloud is enough.
  }

  restore(): void {
    // Empty: nothing but faults changes EC2.
  }

  #apiFor(process: SimulatedProcess, { onCallEnded }: RigHooks): Ec2Api {
    const { gateway } = this.cluster.ec2;
    const sent = new WeakMap<object, number>();
    const onCall: OnCall = (action, input, result, output = {}) => {
      // Both paths pass on the very object that was sent.
      const sentAt = sent.get(input as object);
      if (sentAt === undefined) throw new Error(`${action} ended and was never sent`);
      onCallEnded(action, { input: input as JsonObject, result, sentAt, output: output as JsonObject });
    };
    const api =
      this.#path === 'wire'
        ? new WireEc2(gateway, this.#clock, onCall)
        : new InProcessEc2(gateway, onCall, `arn:aws:iam::123456789012:user/${process.identity}`);
    return {
      send: (action, input, sending) => {
        sent.set(input, this.#clock.monotonic());
        return api.send(action, input, sending);
      },
    };
  }
}

/** The instance that an interface is created for. */
function taggedInstance(input: Readonly<Record<string, unknown>>): string {
  const tags = JSON.stringify(input['TagSpecifications'] ?? '');
  return /"headwater\/instance-id","Value":"([^"]+)"/.exec(tags)?.[1] ?? '';
}
