// Describes, creates, changes and deletes network interfaces.
import type { CloudNetwork } from '../../cloud/cloud-network.ts';
import { noIpv6 } from '../../cloud/ipv6-claims.ts';
import { changeInterface, createInterface, removeInterface } from '../../cloud/network-interfaces.ts';
import type { InterfaceLife, NetworkInterface } from '../../cloud/records.ts';
import { maxSecondaryAddresses } from '../ecs-instance-types.ts';
import { numbered, pageOf, tokened } from '../paging.ts';
import { flag, integer, oneOf, requiredText, tags, text, texts } from '../parameters.ts';
import { createdInterface, listedInterface } from '../rendering.ts';
import { rpcAction } from '../rpc-action.ts';
import { conflictingParameters, missingParameter } from '../rpc-refusal.ts';
import { interfaceStatus, isPrimary, refuseUnless } from '../states.ts';
import { hasTags, newTags } from '../tags.ts';
import { addressesOf } from './addresses.ts';

const describe = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    NetworkInterfaceId: texts(100),
    VpcId: text,
    VSwitchId: text,
    InstanceId: text,
    SecurityGroupId: text,
    NetworkInterfaceName: text,
    PrimaryIpAddress: text,
    PrivateIpAddress: texts(100),
    Type: oneOf('Primary', 'Secondary'),
    Status: oneOf('Creating', 'Available', 'Attaching', 'InUse', 'Detaching', 'Deleting'),
    Tag: tags,
    ...numbered(100),
    ...tokened(500),
  },
  run: (input, context) => {
    const ids = new Set(input.NetworkInterfaceId);
    const addresses = new Set(input.PrivateIpAddress);
    const tests: ((record: NetworkInterface) => boolean)[] = [
      ({ id }) => ids.size === 0 || ids.has(id),
      ({ vpcId }) => (input.VpcId ?? vpcId) === vpcId,
      ({ subnetId }) => (input.VSwitchId ?? subnetId) === subnetId,
      ({ instanceId }) => (input.InstanceId ?? instanceId) === instanceId,
      ({ groupIds }) => input.SecurityGroupId === undefined || groupIds.includes(input.SecurityGroupId),
      ({ life }) => input.NetworkInterfaceName === undefined || life?.name === input.NetworkInterfaceName,
      ({ primaryAddress }) => (input.PrimaryIpAddress ?? primaryAddress) === primaryAddress,
      (record) => addresses.size === 0 || record.addresses.some((address) => addresses.has(address)),
      (record) => input.Type === undefined || (input.Type === 'Primary') === isPrimary(record),
      (record) => (input.Status ?? interfaceStatus(record)) === interfaceStatus(record),
      (record) => hasTags(record.tags, input.Tag),
    ];
    const { items, about } = pageOf(input, context, {
      name: 'DescribeNetworkInterfaces',
      moment: context.view('interfaces'),
      fits: (record) => tests.every((test) => test(record)),
    });
    const NetworkInterfaceSet = items.map((record) => listedInterface(record, context));
    return { ...about, NetworkInterfaceSets: { NetworkInterfaceSet } };
  },
});

const create = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    VSwitchId: requiredText,
    SecurityGroupId: text,
    SecurityGroupIds: texts(16),
    PrimaryIpAddress: text,
    PrivateIpAddress: texts(maxSecondaryAddresses),
    SecondaryPrivateIpAddressCount: integer(1, maxSecondaryAddresses),
    NetworkInterfaceName: { ...text, max: 128 },
    Description: { ...text, max: 256 },
    DeleteOnRelease: flag,
    Tag: tags,
    ClientToken: { ...text, max: 64 },
  },
  run: (input, { network, times }) => {
    const groupIds = groupsOf(input);
    const added = addressesOf(input);
    const record = createInterface(network, {
      subnetId: input.VSwitchId,
      primaryAddress: input.PrimaryIpAddress,
      claim: added,
      ipv6: noIpv6,
      type: 'interface',
      groupIds,
      description: input.Description ?? '',
      tags: newTags({}, input.Tag),
      life: {
        phase: 'creating',
        name: input.NetworkInterfaceName ?? '',
        createTime: network.clock.wall(),
        deleteOnRelease: input.DeleteOnRelease ?? true,
      },
    });
    network.after(times.createMs, () => enter(network, record.id, 'creating', 'ready'));
    return createdInterface(network.interfaces.get(record.id) ?? record, network.account);
  },
});

const remove = rpcAction({
  product: 'ecs',
  parameters: { RegionId: requiredText, NetworkInterfaceId: requiredText },
  run: (input, { network, times }) => {
    const record = network.find('interfaces', input.NetworkInterfaceId);
    refuseUnless(record, 'Available');
    enter(network, record.id, 'ready', 'deleting');
    network.after(times.deleteMs, () => {
      const found = network.interfaces.get(record.id);
      if (found !== undefined) removeInterface(network, found);
    });
    return {};
  },
});

const change = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    NetworkInterfaceId: requiredText,
    NetworkInterfaceName: { ...text, max: 128 },
    Description: { ...text, max: 256 },
    SecurityGroupId: texts(16),
    DeleteOnRelease: flag,
  },
  run: (input, { network }) => {
    const { id } = network.find('interfaces', input.NetworkInterfaceId);
    const { Description: description, SecurityGroupId: groupIds } = input;
    changeInterface(network, id, {
      ...(description !== undefined && { description }),
      ...(groupIds.length > 0 && { groupIds }),
    });
    const { NetworkInterfaceName: name, DeleteOnRelease: deleteOnRelease } = input;
    changeLife(network, id, {
      ...(name !== undefined && { name }),
      ...(deleteOnRelease !== undefined && { deleteOnRelease }),
    });
    return {};
  },
});

function groupsOf(input: {
  readonly SecurityGroupId: string | undefined;
  readonly SecurityGroupIds: readonly string[];
}): readonly string[] {
  const { SecurityGroupId: one, SecurityGroupIds: several } = input;
  if (one !== undefined && several.length > 0) {
    throw conflictingParameters('SecurityGroupId and SecurityGroupIds exclude each other.');
  }
  if (one === undefined && several.length === 0) throw missingParameter('SecurityGroupId');
  return one === undefined ? several : [one];
}

function enter(
  network: CloudNetwork,
  id: string,
  from: InterfaceLife['phase'],
  phase: InterfaceLife['phase'],
): void {
  if (network.interfaces.get(id)?.life?.phase === from) changeLife(network, id, { phase });
}

/** An attachment repeats whether its end deletes the interface. */
function changeLife(network: CloudNetwork, id: string, part: Partial<InterfaceLife>): void {
  const record = network.interfaces.get(id);
  if (record?.life === undefined) return;
  const life = { ...record.life, ...part };
  const { attachment } = record;
  network.put('interfaces', {
    ...record,
    life,
    ...(attachment !== undefined && {
      attachment: { ...attachment, deleteOnTermination: life.deleteOnRelease },
    }),
  });
}

export const interfaceActions = {
  DescribeNetworkInterfaces: describe,
  CreateNetworkInterface: create,
  DeleteNetworkInterface: remove,
  ModifyNetworkInterfaceAttribute: change,
};
