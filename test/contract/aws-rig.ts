// EC2 for the contract's cases.
import { composeAws } from '../../src/controller/clouds/aws.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createEc2 } from '../../src/simulator/ec2/create-ec2.ts';
import { InProcessEc2 } from '../support/in-process-ec2.ts';
import { parseIpv6Block } from '../../src/simulator/cloud/ipv6.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../support/test-cloud.ts';
import type { AuditLine } from '../support/audit-lines.ts';
import { byOthersOn, cloudDeps, type CloudRig, Interruptions, shownEmpty } from './cloud-rig.ts';

const tags = { pool: 'egress' };
const ipv6Block = '2600:1f14:100::/56';
const nodesIpv6 = '2600:1f14:100::/64';

export function awsRig(): CloudRig {
  const clock = new VirtualClock();
  const publicAddresses = [{ count: 2, tags }];
  const topology = testCloud({
    vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block }],
    subnets: [{ ...subnets.nodes, ipv6Block: nodesIpv6 }, subnets.pods, subnets.morePods],
    instances: [instance({ count: 7 })],
    publicAddresses,
  });
  const { network, gateway } = createEc2({ topology, clock, random: new Random('contract') });
  const interruptions = new Interruptions();
  const audited: AuditLine[] = [];
  const inner = new InProcessEc2(gateway, () => undefined);
  let change = (output: object): object => output;
  const api: Ec2Api = {
    send: async <A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending) => {
      await interruptions.sending(action);
      return change(await inner.send(action, input, sending)) as Ec2Output<A>;
    },
  };
  const { interfaceOf, ...byOthers } = byOthersOn(network, ids.nodes);
  return {
    clock,
    network,
    faults: gateway.faults,
    instanceIds: [...network.instances.keys()],
    networkIds: [ids.vpc],
    calls: {
      grow: 'AssignPrivateIpAddresses',
      shrink: 'UnassignPrivateIpAddresses',
      list: 'DescribeNetworkInterfaces',
    },
    sent: interruptions.sent,
    audited,
    compose: () => {
      const deps = cloudDeps(clock, audited);
      return composeAws(api, { ...deps, options: { ...deps.options, awsMaxResultsPerCall: 5 } })
        .implementation;
    },
    before: (...given) => interruptions.arm(...given),
    breakInterface: (instanceId) => {
      const id = interfaceOf(instanceId);
      change = (output) => withoutMac(output, id);
    },
    gone: 'terminated',
    ipv6: {
      call: 'AssignIpv6Addresses',
      exhaust: () => {
        const block = parseIpv6Block(nodesIpv6);
        if (block !== undefined) network.ipv6Space(ids.nodes)?.reserveExplicitly(block);
      },
    },
    publicAddresses: {
      tags,
      call: 'AssociateAddress',
      of: (instanceId) =>
        [...network.all('publicAddresses').values()]
          .filter(({ association }) => association?.interfaceId === interfaceOf(instanceId))
          .map(({ address }) => address),
    },
    ...byOthers,
    hideEverything: () => {
      change = shownEmpty;
    },
  };
}

function withoutMac(output: object, id: string): object {
  const { NetworkInterfaces: shown } = output as Partial<Ec2Output<'DescribeNetworkInterfaces'>>;
  if (shown === undefined) return output;
  return {
    ...output,
    NetworkInterfaces: shown.map((item) =>
      item.NetworkInterfaceId === id ? { ...item, MacAddress: undefined } : item,
    ),
  };
}
