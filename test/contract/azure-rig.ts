// Azure for the contract's cases: VMs of a uniform scale set, or VMs of their own.
import { composeAzure } from '../../src/controller/clouds/azure.ts';
import type { ArmApi } from '../../src/providers/azure/arm-api.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { ArmCloud } from '../../src/simulator/arm/arm-cloud.ts';
import { readArmTopology } from '../../src/simulator/arm/arm-topology.ts';
import { createArm } from '../../src/simulator/arm/create-arm.ts';
import { deleteMachine } from '../../src/simulator/arm/machine-changes.ts';
import { ArmHand, oneMore } from '../support/arm-hand.ts';
import { InProcessArm } from '../support/in-process-arm.ts';
import type { AuditLine } from '../support/audit-lines.ts';
import { cloudDeps, type CloudRig, fillSubnet, Interruptions } from './cloud-rig.ts';

const scaleSet = { scaleSets: [{ name: 'pool', count: 7, interfaces: [{ name: 'nic0', subnet: 'a' }] }] };
const machines = { machines: [{ name: 'vm', count: 7, interfaces: [{ name: 'nic0', subnet: 'a' }] }] };

const update = 'VirtualMachineScaleSetVMs.Update';
const tags = { pool: 'egress' };

export function azureScaleSetRig(): CloudRig {
  const calls = {
    grow: update,
    shrink: update,
    list: 'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces',
  };
  const { cloud, ...rig } = azureRig(scaleSet, calls);
  const of = (instanceId: string): readonly string[] =>
    [...cloud.publicAddresses.values()]
      .filter(({ id }) => id.startsWith(`${instanceId}/`))
      .map(({ address }) => address);
  return { ...rig, publicAddresses: { tags, call: update, of } };
}

export function azureMachinesRig(): CloudRig {
  return azureRig(machines, {
    grow: 'NetworkInterfaces.CreateOrUpdate',
    shrink: 'NetworkInterfaces.CreateOrUpdate',
    list: 'NetworkInterfaces.List',
  });
}

function azureRig(instances: object, calls: CloudRig['calls']): CloudRig & { readonly cloud: ArmCloud } {
  const clock = new VirtualClock();
  const { cloud, gateway } = createArm({
    topology: topologyWith(instances),
    clock,
    random: new Random('contract'),
  });
  const { network } = cloud;
  const interruptions = new Interruptions();
  const audited: AuditLine[] = [];
  const inner = new InProcessArm(gateway);
  const hand = new ArmHand(gateway);
  const api: ArmApi = {
    send: async (request, sending) => {
      await interruptions.sending(request.operation.replace(/^Interfaces/, 'NetworkInterfaces'));
      return inner.send(request, sending);
    },
  };
  return {
    cloud,
    clock,
    network,
    faults: gateway.faults,
    instanceIds: [...cloud.machines.current.keys()],
    networkIds: [],
    calls,
    sent: interruptions.sent,
    audited,
    compose: () =>
      composeAzure({ api, cloud: 'AzurePublicCloud', place: undefined }, cloudDeps(clock, audited))
        .implementation,
    before: (...given) => interruptions.arm(...given),
    fill: (left) => {
      const [subnetId = ''] = cloud.subnets.keys();
      fillSubnet(network, subnetId, left);
    },
    addByOthers: async (instanceId) => {
      await hand.change(changedFor(cloud, instanceId), oneMore('by-others'));
    },
    breakInterface: (instanceId) => {
      for (const record of cloud.interfacesOf(cloud.machine(instanceId)))
        cloud.putInterface({ ...record, mac: '' });
    },
    terminate: (instanceId) => void deleteMachine(cloud, cloud.machine(instanceId)),
    gone: 'terminated',
    hideEverything: () => {
      const fault = {
        kind: 'error',
        code: 'ResourceGroupNotFound',
        status: 404,
        message: 'not there',
      } as const;
      gateway.faults.add({ action: '*', rate: 1, match: {}, fault });
    },
  };
}

function topologyWith(instances: object): Parameters<typeof createArm>[0]['topology'] {
  const network = { name: 'main', blocks: ['10.0.0.0/16'], subnets: [{ name: 'a', block: '10.0.0.0/24' }] };
  const publicIpPrefixes = [{ name: 'egress', block: '203.0.113.0/30', tags }];
  const plan = {
    cloud: 'azure',
    publicIpPrefixes,
    virtualNetworks: [network],
    pageSize: 3,
    respelled: 0.3,
    ...instances,
  };
  const read = readArmTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

/** What a client changes to add addresses: the VM of a scale set, or the interface of another VM. */
function changedFor(cloud: ArmCloud, instanceId: string): string {
  const machine = cloud.machine(instanceId);
  const [interfaceId = ''] = machine.interfaceIds;
  return machine.instanceId === undefined
    ? (cloud.interfaces.current.get(interfaceId)?.path ?? '')
    : machine.path;
}
