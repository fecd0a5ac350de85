// Alibaba Cloud in a simulation. An attachment ends long after its call. Faults and invariants know the calls of EC2, most
// of which have the same name here, so inputs and answers reach them in the words of EC2.
import { composeAlibaba } from '../../../src/controller/clouds/alibaba.ts';
import type { Cloud, CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../../src/providers/alibaba/rpc-api.ts';
import { CallError, type Sending } from '../../../src/providers/gate/cloud-call.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { readyLife } from '../../../src/simulator/alibaba/states.ts';
import type { Faults } from '../../../src/simulator/cloud/faults.ts';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import {
  createEmbeddedAlibaba,
  type EmbeddedAlibaba,
} from '../../../src/simulator/cluster/embedded-cluster.ts';
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { InProcessRpc, type OnRpcCall } from '../../support/in-process-rpc.ts';
import { passCall } from '../ports.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Scenario } from '../scenario.ts';
import { alibabaTopologyOf, podTags } from './alibaba-topology.ts';
import { CallJudge } from './call-judge.ts';
import type { ActingCall, CloudPath, CloudRig, RigHooks, RigOptions } from './cloud-rig.ts';
import { inWordsOfEc2, outputInWordsOfEc2, resultInWordsOfEc2 } from './ec2-words.ts';
import { launchLike, terminateOnceShown } from './launched-instances.ts';
import { occupy } from './occupied-subnet.ts';
import { WireRpc } from '../wire-rpc.ts';
import { roomOn } from './subnet-room.ts';

const indexTag = 'cilium-eni-index';

export class AlibabaRig implements CloudRig {
  readonly cloud = 'alibabacloud';
  readonly cluster: EmbeddedAlibaba;
  /** Four attempts of a call whose answers are lost. */
  readonly maxCall = 120_000;
  /** As long as it waits for an interface that is being created, if its reads are throttled and the last one hangs. */
  readonly untilUsable = 120_000 + 90_000;
  readonly podSubnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly #clock: VirtualClock;
  readonly #path: CloudPath;
  readonly #times: EmbeddedAlibaba['network']['times'];
  readonly #calls: CallJudge;
  readonly #onMisdeed: (text: string) => void;
  /** By interface: the process that attached it. */
  readonly #attachedBy = new Map<string, string>();

  constructor(scenario: Scenario, { clock, path, create, onMisdeed }: RigOptions) {
    this.cluster = createEmbeddedAlibaba({ ...create, topology: alibabaTopologyOf(scenario) });
    this.#clock = clock;
    this.#path = path;
    this.#onMisdeed = onMisdeed;
    const { network } = this.cluster;
    this.#times = network.times;
    this.#calls = new CallJudge(scenario.flags['cloud-quota-overrides'], onMisdeed);
    this.podSubnets = [...network.subnets.values()]
      .filter(({ tags }) => tags['purpose'] === podTags.purpose)
      .map(({ id }) => id);
    this.securityGroups = [...network.interfaces.values()][0]?.groupIds ?? [];
  }

  get faults(): Faults {
    return this.cluster.alibaba.gateway.faults;
  }

  connect(process: SimulatedProcess, hooks: RigHooks): (deps: CloudDeps) => Cloud {
    const inner = this.#apiFor(process, hooks);
    const api: RpcApi = {
      send: async <A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending) => {
        const send = (): Promise<RpcOutput<A>> => inner.send(action, input, sending);
        const output = await passCall({ process, action, input: inWordsOfEc2(input) }, send, hooks.onPhase);
        hooks.onAnswerApplied(process.identity, action, outputInWordsOfEc2(output));
        return output;
      },
    };
    return (deps) => composeAlibaba({ api, regionId: this.cluster.network.region }, deps);
  }

  isChange(action: string): boolean {
    return !action.startsWith('Describe');
  }

  acting(): ActingCall | undefined {
    const { acting } = this.cluster.alibaba.gateway;
    if (acting === undefined) return undefined;
    const { name: action, caller } = acting;
    return { action, identity: caller.user, unassigns: action === 'UnassignPrivateIpAddresses' };
  }

  instanceOfCall(input: Readonly<Record<string, unknown>>): string {
    const { InstanceId: instanceId, NetworkInterfaceId: id } = input;
    if (typeof instanceId === 'string') return instanceId;
    if (typeof id === 'string') return this.cluster.network.interfaces.get(id)?.instanceId ?? '';
    // The instance that an interface is created for.
    const tags = listAt(input as JsonObject, 'Tag');
    const own = tags.find((tag) => textAt(tag, 'key') === 'headwater/instance-id');
    return textAt(own, 'value');
  }

  instancesRead(action: string, input: JsonObject): readonly string[] {
    if (action !== 'DescribeNetworkInterfaces' || input['status'] === 'Available') return [];
    const instance = textAt(input, 'InstanceId');
    if (instance !== '') return [instance];
    // A read of single interfaces does not show what their instance has lost.
    return textsAt(input, 'networkInterfaceId').length === 0 ? ['*'] : [];
  }

  launch(like: NodeFacts): Pick<NodeFacts, 'instanceId' | 'primaryAddress'> | undefined {
    const { network } = this.cluster;
    return launchLike(network, like, () => ({
      reservationId: '',
      imageId: 'aliyun_3_x64_20G_alibase_20260101.vhd',
      request: { ...plainInterface(like.subnetId, this.securityGroups), life: readyLife(network) },
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

  /** Attachments do not end before. */
  slowDown(ms: number): void {
    const { network } = this.cluster;
    network.times = { ...network.times, attachMs: { min: ms / 2, max: ms } };
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

  restore(): void {
    this.cluster.network.times = this.#times;
  }

  /** Agents number interfaces by their tags, so a process must not attach two with one number to an instance. */
  judge(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    if (after?.instanceId === undefined || before?.instanceId !== undefined) return;
    const acting = this.acting();
    if (acting === undefined) return;
    this.#attachedBy.set(after.id, acting.identity);
    const index = after.tags[indexTag];
    const twin = [...this.cluster.network.interfaces.values()].find(
      ({ id, instanceId, tags }) =>
        id !== after.id &&
        instanceId === after.instanceId &&
        tags[indexTag] === index &&
        this.#attachedBy.get(id) === acting.identity,
    );
    if (twin !== undefined)
      this.#onMisdeed(`${acting.identity} attaches ${after.id} beside ${twin.id}, with index ${index} both`);
  }

  #apiFor(process: SimulatedProcess, { onCallEnded }: RigHooks): RpcApi {
    const sent = new WeakMap<object, number>();
    const { gateway } = this.cluster.alibaba;
    const onCall: OnRpcCall = (action, input, result, output = {}) =>
      onCallEnded(action, {
        input: inWordsOfEc2(input as object),
        result: resultInWordsOfEc2(result),
        sentAt: sent.get(input as object) ?? 0,
        output: outputInWordsOfEc2(output),
      });
    const inner =
      this.#path === 'wire'
        ? new WireRpc(gateway, this.#clock, onCall, process.identity)
        : new InProcessRpc(gateway, onCall, process.identity);
    return {
      send: async (action, input, sending) => {
        const call = { identity: process.identity, action, input };
        sent.set(input, this.#clock.monotonic());
        // A fenced call is never sent.
        const onSend = (): void => {
          sending.onSend();
          this.#calls.sent(call, this.#clock.monotonic());
        };
        try {
          return await inner.send(action, input, { ...sending, onSend });
        } catch (error) {
          if (error instanceof CallError && error.result === 'noAnswer')
            this.#calls.lost(call, this.#clock.monotonic());
          throw error;
        }
      },
    };
  }
}
