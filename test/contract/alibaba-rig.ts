// ECS of Alibaba Cloud for the contract's cases.
import { composeAlibaba } from '../../src/controller/clouds/alibaba.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../src/providers/alibaba/rpc-api.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { readAlibabaTopology } from '../../src/simulator/alibaba/alibaba-topology.ts';
import { createAlibaba } from '../../src/simulator/alibaba/create-alibaba.ts';
import { InProcessRpc } from '../support/in-process-rpc.ts';
import type { AuditLine } from '../support/audit-lines.ts';
import { byOthersOn, cloudDeps, type CloudRig, Interruptions, shownEmpty } from './cloud-rig.ts';

const plan = {
  cloud: 'alibabacloud',
  vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'] }],
  vSwitches: [{ name: 'a', zone: 'cn-hangzhou-a', block: '10.0.0.0/24' }],
  instances: [{ name: 'node', type: 'ecs.g7.xlarge', vSwitch: 'a', count: 7 }],
};

export function alibabaRig(): CloudRig {
  const clock = new VirtualClock();
  const { network, gateway } = createAlibaba({ topology: topology(), clock, random: new Random('contract') });
  const interruptions = new Interruptions();
  const audited: AuditLine[] = [];
  const inner = new InProcessRpc(gateway);
  let change = (output: object): object => output;
  const api: RpcApi = {
    send: async <A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending) => {
      await interruptions.sending(action);
      const asked = action === 'DescribeNetworkInterfaces' ? { ...input, maxResults: 5 } : input;
      return change(await inner.send(action, asked, sending));
    },
  };
  const [subnetId = ''] = network.subnets.keys();
  const { interfaceOf, ...byOthers } = byOthersOn(network, subnetId);
  return {
    clock,
    network,
    faults: gateway.faults,
    instanceIds: [...network.instances.keys()],
    networkIds: [...new Set([...network.instances.values()].map(({ vpcId }) => vpcId))],
    calls: {
      grow: 'AssignPrivateIpAddresses',
      shrink: 'UnassignPrivateIpAddresses',
      list: 'DescribeNetworkInterfaces',
    },
    sent: interruptions.sent,
    audited,
    compose: () =>
      composeAlibaba({ api, regionId: network.region }, cloudDeps(clock, audited)).implementation,
    before: (...given) => interruptions.arm(...given),
    breakInterface: (instanceId) => {
      const id = interfaceOf(instanceId);
      change = (output) => withoutMac(output, id);
    },
    gone: 'unknown',
    ...byOthers,
    hideEverything: () => {
      change = shownEmpty;
    },
  };
}

function topology(): Parameters<typeof createAlibaba>[0]['topology'] {
  const read = readAlibabaTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

function withoutMac(output: object, id: string): object {
  const { networkInterfaceSets: sets } = output as Partial<RpcOutput<'DescribeNetworkInterfaces'>>;
  if (sets?.networkInterfaceSet === undefined) return output;
  const networkInterfaceSet = sets.networkInterfaceSet.map((item) =>
    item.networkInterfaceId === id ? { ...item, macAddress: undefined } : item,
  );
  return { ...output, networkInterfaceSets: { networkInterfaceSet } };
}
