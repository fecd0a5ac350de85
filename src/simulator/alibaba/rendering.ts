// How answers show interfaces, instances and tags.
import { instanceState, interfaceStatus, isPrimary } from './states.ts';
import type { Instance, NetworkInterface, Tags } from '../cloud/records.ts';
import type { JsonObject } from '../workload/json.ts';
import type { RpcContext } from './rpc-action.ts';

/** `2026-01-02T03:04Z`, as ECS writes times. */
export function shownTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

/** Tags as ECS shows them. */
export function shownTags(tags: Tags): JsonObject {
  return { Tag: Object.entries(tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue })) };
}

/** Tags as the API of VPCs shows them. */
export function shownVpcTags(tags: Tags): JsonObject {
  return { Tag: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) };
}

/** The interface in the answer to a creation; listings have more. */
export function createdInterface(record: NetworkInterface, account: string): JsonObject {
  const { primaryAddress } = record;
  return {
    NetworkInterfaceId: record.id,
    NetworkInterfaceName: record.life?.name ?? '',
    Description: record.description,
    Status: interfaceStatus(record),
    Type: isPrimary(record) ? 'Primary' : 'Secondary',
    OwnerId: account,
    VpcId: record.vpcId,
    VSwitchId: record.subnetId,
    ZoneId: record.zone,
    MacAddress: record.mac,
    PrivateIpAddress: primaryAddress,
    PrivateIpSets: {
      PrivateIpSet: record.addresses.map((address) => ({
        PrivateIpAddress: address,
        Primary: address === primaryAddress,
      })),
    },
    Ipv6Sets: { Ipv6Set: [] },
    Ipv4PrefixSets: { Ipv4PrefixSet: [] },
    Ipv6PrefixSets: { Ipv6PrefixSet: [] },
    SecurityGroupIds: { SecurityGroupId: record.groupIds },
    Tags: shownTags(record.tags),
    ResourceGroupId: '',
    ServiceManaged: record.requesterManaged,
    SourceDestCheck: false,
  };
}

export function listedInterface(record: NetworkInterface, { network }: RpcContext): JsonObject {
  const { attachment, life } = record;
  return {
    ...createdInterface(record, network.account),
    InstanceId: attachment?.instanceId ?? '',
    CreationTime: shownTime(life?.createTime ?? 0),
    DeleteOnRelease: life?.deleteOnRelease ?? true,
    AssociatedPublicIp: {},
    Attachment:
      attachment === undefined
        ? {}
        : {
            InstanceId: attachment.instanceId,
            DeviceIndex: attachment.deviceIndex,
            NetworkCardIndex: attachment.cardIndex,
          },
    QueueNumber: 1,
    NetworkInterfaceTrafficMode: 'Standard',
  };
}

export function listedInstance(instance: Instance, { network, view }: RpcContext): JsonObject {
  const interfaces = instance.interfaceIds.flatMap((id) => view('interfaces').get(id) ?? []);
  const primary = interfaces.find(isPrimary);
  const type = network.rules.instanceTypes.get(instance.type);
  return {
    InstanceId: instance.id,
    InstanceName: instance.name ?? instance.id,
    HostName: instance.name ?? instance.id,
    InstanceType: instance.type,
    Status: instanceState(instance.state),
    RegionId: network.region,
    ZoneId: instance.zone,
    ImageId: instance.imageId,
    Cpu: type?.cpus ?? 0,
    Memory: type?.memoryMiB ?? 0,
    CreationTime: shownTime(instance.launchTime),
    InstanceNetworkType: 'vpc',
    InstanceChargeType: 'PostPaid',
    SecurityGroupIds: { SecurityGroupId: primary?.groupIds ?? [] },
    VpcAttributes: {
      VpcId: instance.vpcId,
      VSwitchId: instance.subnetId,
      PrivateIpAddress: { IpAddress: [instance.primaryAddress] },
    },
    NetworkInterfaces: {
      NetworkInterface: interfaces.map((record) => ({
        NetworkInterfaceId: record.id,
        MacAddress: record.mac,
        PrimaryIpAddress: record.primaryAddress,
        Type: isPrimary(record) ? 'Primary' : 'Secondary',
        PrivateIpSets: {
          PrivateIpSet: record.addresses.map((address) => ({
            PrivateIpAddress: address,
            Primary: address === record.primaryAddress,
          })),
        },
      })),
    },
    Tags: shownTags(instance.tags),
  };
}
