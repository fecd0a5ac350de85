// Azure in a simulation. A change of an instance ends long after its call: what it adds belongs to the interface only
// then, and is that call's doing.
import { composeAzure } from '../../../src/controller/clouds/azure.ts';
import type { Cloud, CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from '../../../src/providers/azure/arm-api.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { ArmCall } from '../../../src/simulator/arm/arm-call.ts';
import type { ModelWrite } from '../../../src/simulator/arm/arm-cloud.ts';
import { ArmRefusal } from '../../../src/simulator/arm/arm-refusal.ts';
import type { ArmTopology } from '../../../src/simulator/arm/arm-topology.ts';
import { maxConfigurations } from '../../../src/simulator/arm/configurations.ts';
import { deleteMachine } from '../../../src/simulator/arm/machine-changes.ts';
import { addInstance, start } from '../../../src/simulator/arm/new-machines.ts';
import { keyOf } from '../../../src/simulator/arm/resource-path.ts';
import { claim, nothing, release } from '../../../src/simulator/cloud/claims.ts';
import type { Faults } from '../../../src/simulator/cloud/faults.ts';
import { createEmbeddedAzure, type EmbeddedAzure } from '../../../src/simulator/cluster/embedded-cluster.ts';
import { type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { ArmHand } from '../../support/arm-hand.ts';
import { judgeArm } from '../../support/arm-judge.ts';
import { addUnknownFields, otherPrincipal } from '../../support/azure-cloud.ts';
import { InProcessArm, type OnArmCall } from '../../support/in-process-arm.ts';
import { passCall } from '../ports.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Scenario } from '../scenario.ts';
import { WireArm } from '../wire-arm.ts';
import { armTopologyOf } from './azure-topology.ts';
import { type HostOf, machineIn, machinesListed, ReadsOfOne } from './machines-read.ts';
import { PublicIpAddresses } from './public-ip-addresses.ts';
import type { ActingCall, CloudPath, CloudRig, RigHooks, RigOptions } from './cloud-rig.ts';

export class AzureRig implements CloudRig {
  readonly cloud = 'azure';
  readonly cluster: EmbeddedAzure;
  /** An operation takes up to 90 s. */
  readonly maxCall = 120_000;
  readonly untilUsable = 0;
  readonly podSubnets: readonly string[];
  readonly publicAddresses: PublicIpAddresses;
  readonly securityGroups = [];
  /** Another client. */
  readonly hand: ArmHand;
  readonly #clock: VirtualClock;
  readonly #path: CloudPath;
  readonly #topology: ArmTopology;
  readonly #hostOf: HostOf = (key) => this.cluster.network.interfaces.get(key)?.instanceId;
  readonly #readsOfOne = new ReadsOfOne(this.#hostOf);
  /** By interface: the call that changed it last, if it was a controller's. */
  readonly #changedBy = new Map<string, ActingCall>();
  /** By interface: when a controller last changed it, in monotonic ms. */
  readonly #sentAt = new Map<string, number>();

  constructor(scenario: Scenario, { clock, path, create, onMisdeed }: RigOptions) {
    this.#topology = armTopologyOf(scenario);
    this.cluster = createEmbeddedAzure({ ...create, topology: this.#topology });
    this.#clock = clock;
    this.#path = path;
    const { arm, network } = this.cluster;
    this.podSubnets = [...network.subnets.keys()];
    this.hand = new ArmHand(arm.gateway, otherPrincipal);
    addUnknownFields(arm.cloud);
    judgeArm(arm, (caller) => caller !== otherPrincipal, onMisdeed);
    this.publicAddresses = new PublicIpAddresses(arm.cloud, onMisdeed);
    const { onWrite } = arm.cloud;
    arm.cloud.onWrite = (write) => {
      onWrite(write);
      this.publicAddresses.lookAt(write.path, this.#actingOfOurs() !== undefined);
      this.#remember(write);
    };
  }

  get faults(): Faults {
    return this.cluster.arm.gateway.faults;
  }

  connect(process: SimulatedProcess, hooks: RigHooks): (deps: CloudDeps) => Cloud {
    const inner = this.#apiFor(process, hooks);
    const api: ArmApi = {
      send: async (request, sending) => {
        const { operation: action, url } = request;
        const send = (): Promise<ArmAnswer> => inner.send(request, sending);
        const input = { url };
        const whole = await passCall({ process, action, input }, send, hooks.onPhase);
        const answer = hooks.filterAnswer(process.identity, { action, input }, whole);
        hooks.onAnswerApplied(process.identity, action, answer);
        return answer;
      },
    };
    return (deps) => composeAzure({ api, cloud: 'AzurePublicCloud', place: undefined }, deps);
  }

  isChange(action: string): boolean {
    return action.endsWith('Update');
  }

  acting(interfaceId: string): ActingCall | undefined {
    // It goes with its VM, no matter which client changed it last.
    if (!this.cluster.arm.cloud.interfaces.current.has(interfaceId)) return undefined;
    return this.#changedBy.get(interfaceId);
  }

  instanceOfCall(input: Readonly<Record<string, unknown>>): string {
    const { url } = input;
    return typeof url === 'string' ? machineIn(url, this.#hostOf) : '';
  }

  instancesRead(action: string, input: JsonObject, output: JsonObject, identity: string): readonly string[] {
    const url = textAt(input, 'url');
    const machine = this.#readsOfOne.read({ identity, action, url, output });
    if (machine !== '') return [machine];
    // What a list lacks follows from its last page.
    if (!action.startsWith('Interfaces.List') || textAt(output, 'nextLink') !== '') return [];
    return [machinesListed(url)];
  }

  launch(like: NodeFacts): Pick<NodeFacts, 'instanceId' | 'primaryAddress'> | undefined {
    const { cloud } = this.cluster.arm;
    try {
      const { id } = addInstance(cloud, this.#setOf(like));
      this.#clock.schedule(0, () => cloud.after(cloud.times.startMs, () => start(cloud, id)));
      const primaryAddress = this.cluster.network.instances.get(id)?.primaryAddress ?? '';
      return { instanceId: id, primaryAddress };
    } catch (refusal) {
      if (refusal instanceof ArmRefusal) return undefined;
      throw refusal;
    }
  }

  terminate(instanceId: string): void {
    const { cloud } = this.cluster.arm;
    const machine = cloud.machines.current.get(instanceId);
    if (machine !== undefined && machine.state !== 'Deleting') deleteMachine(cloud, machine);
  }

  /** Free addresses in the subnets of its interfaces that carry pods and take more. */
  roomFor({ facts: { instanceId, azure } }: NodeView): number {
    const { network } = this.cluster;
    const isForPods = (id: string): boolean =>
      azure?.interfaceName === undefined || id.endsWith(`/${azure.interfaceName}`);
    const takingMore = [...network.interfaces.values()].filter(
      (item) =>
        item.instanceId === instanceId && isForPods(item.id) && item.addresses.length < maxConfigurations,
    );
    return [...new Set(takingMore.map(({ subnetId }) => subnetId))]
      .map((id) => network.subnets.get(id)?.available ?? 0)
      .reduce((sum, room) => sum + room, 0);
  }

  occupy(subnetId: string, left: number): () => void {
    const { network } = this.cluster;
    const count = Math.max(0, network.find('subnets', subnetId).available - left);
    const claimed = claim(network, subnetId, { ...nothing, count });
    return () => release(network, subnetId, claimed);
  }

  slowDown(ms: number): void {
    const { cloud } = this.cluster.arm;
    const range = { min: ms / 2, max: ms };
    cloud.times = { ...cloud.times, machineMs: range, interfaceMs: range };
  }

  isChanging(interfaceId: string): boolean {
    return this.cluster.arm.cloud.interfaces.current.get(interfaceId)?.state === 'Updating';
  }

  /** A controller hears of the end later. */
  isAwaited(interfaceId: string): boolean {
    const sentAt = this.#sentAt.get(interfaceId) ?? -Infinity;
    return this.isChanging(interfaceId) || this.#clock.monotonic() < sentAt + this.maxCall;
  }

  /** A VM of its own, or of a Flexible scale set, names its interfaces. */
  isReadInLists(instanceId: string): boolean {
    return this.cluster.arm.cloud.machines.current.get(instanceId)?.instanceId !== undefined;
  }

  madeByOthers(instanceId: string): number {
    const { cloud } = this.cluster.arm;
    const machine = cloud.machines.current.get(instanceId);
    const interfaces = machine === undefined ? [] : cloud.interfacesOf(machine);
    return interfaces
      .flatMap(({ configurations }) => configurations)
      .filter(({ name, isPrimary }) => !isPrimary && !name.startsWith('Cilium-')).length;
  }

  judge(): void {
    // Empty: calls are judged on arrival.
  }

  restore(): void {
    this.cluster.arm.cloud.times = this.#topology.times;
  }

  /** The scale set of instances like this one. */
  #setOf({ subnetId }: NodeFacts): string {
    const { scaleSets } = this.cluster.arm.cloud;
    const index = this.podSubnets.indexOf(subnetId);
    return [...scaleSets.current.keys()][index] ?? '';
  }

  /** The call that acts now, if it is a controller's. */
  #actingOfOurs(): ArmCall | undefined {
    const { acting } = this.cluster.arm.gateway;
    return acting?.caller.name === otherPrincipal ? undefined : acting;
  }

  #remember({ path, drops: unassigns }: ModelWrite): void {
    const { cloud } = this.cluster.arm;
    const acting = this.#actingOfOurs();
    const key = keyOf(path);
    const interfaces = cloud.machines.current.get(key)?.interfaceIds ?? [key];
    for (const id of interfaces) {
      if (acting === undefined) {
        this.#changedBy.delete(id);
        continue;
      }
      this.#changedBy.set(id, { action: acting.name, identity: acting.caller.name, unassigns });
      this.#sentAt.set(id, this.#clock.monotonic());
    }
  }

  #apiFor(process: SimulatedProcess, { onCallEnded }: RigHooks): ArmApi {
    const sent = new WeakMap<ArmRequest, number>();
    const { gateway } = this.cluster.arm;
    const onCall: OnArmCall = (request, result, answer) => {
      const { operation, url, body } = request;
      const input = { url, ...(body !== undefined && { body }) };
      const output = objectAt(answer?.body);
      onCallEnded(operation, { input, result, sentAt: sent.get(request) ?? 0, output });
    };
    const inner =
      this.#path === 'wire'
        ? new WireArm(gateway, this.#clock, onCall, process.identity)
        : new InProcessArm(gateway, onCall, process.identity);
    return {
      send: (request, sending) => {
        sent.set(request, this.#clock.monotonic());
        return inner.send(request, sending);
      },
    };
  }
}
