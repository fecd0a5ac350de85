// Instances in answers.
import type { Instance, InstanceState } from '../../cloud/records.ts';
import { typeOf } from '../../cloud/interface-limits.ts';
import type { ActionContext } from '../action.ts';
import { InterfaceAnswers } from '../interface-answers.ts';
import { groupSet, instanceNetworkInterface } from '../interface-shapes.ts';
import { privateDnsName, publicDnsName, zoneIdOf } from '../names.ts';
import { as, flag, integer, list, record, text, time, type Value } from '../shape.ts';
import { tagSet, tagsOut } from '../tag-shapes.ts';

/** EC2's codes of states (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html). */
const stateCodes: Readonly<Record<InstanceState, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

export const instanceState = record({ Code: integer, Name: text });

/** A state with its code. */
export function stateOut(state: InstanceState): Value<typeof instanceState> {
  return { Code: stateCodes[state], Name: state };
}

export const instanceShape = record({
  InstanceId: text,
  ImageId: text,
  State: as('instanceState', instanceState),
  PrivateDnsName: text,
  PublicDnsName: as('dnsName', text),
  StateTransitionReason: as('reason', text),
  AmiLaunchIndex: integer,
  InstanceType: text,
  LaunchTime: time,
  Placement: record({ AvailabilityZone: text, AvailabilityZoneId: text, GroupName: text, Tenancy: text }),
  Monitoring: record({ State: text }),
  SubnetId: text,
  VpcId: text,
  PrivateIpAddress: text,
  PublicIpAddress: as('ipAddress', text),
  Architecture: text,
  RootDeviceType: text,
  VirtualizationType: text,
  Hypervisor: text,
  ClientToken: text,
  EbsOptimized: flag,
  EnaSupport: flag,
  SourceDestCheck: flag,
  NetworkInterfaces: as('networkInterfaceSet', list(instanceNetworkInterface)),
  SecurityGroups: groupSet,
  Tags: tagSet,
});

/** A reservation with its instances, as in RunInstances and DescribeInstances. */
export const reservationShape = record({
  ReservationId: text,
  OwnerId: text,
  Groups: groupSet,
  Instances: as('instancesSet', list(instanceShape)),
});

/** Instances grouped by the reservations of their launches. */
export function reservationsOf(
  instances: readonly Instance[],
  context: Pick<ActionContext, 'network' | 'view' | 'described'>,
): readonly Value<typeof reservationShape>[] {
  const answers = new InterfaceAnswers(context);
  const reservations = new Map<string, Value<typeof instanceShape>[]>();
  for (const instance of instances) {
    const members = reservations.get(instance.reservationId) ?? [];
    members.push(instanceOut(instance, context, answers));
    reservations.set(instance.reservationId, members);
  }
  return [...reservations].map(([ReservationId, Instances]) => ({
    ReservationId,
    OwnerId: context.network.account,
    Groups: [],
    Instances,
  }));
}

function instanceOut(
  instance: Instance,
  { network, view }: Pick<ActionContext, 'network' | 'view'>,
  answers: InterfaceAnswers,
): Value<typeof instanceShape> {
  const type = typeOf(network, instance);
  const records = instance.interfaceIds.flatMap((id) => view('interfaces').get(id) ?? []);
  const primary = records.find(({ deviceIndex }) => deviceIndex === 0);
  const publicAddress = primary && answers.publicAddressOf(primary, primary.primaryAddress)?.address;
  const ended = instance.state === 'terminated';
  return {
    InstanceId: instance.id,
    ImageId: instance.imageId,
    State: stateOut(instance.state),
    PrivateDnsName: ended ? '' : privateDnsName(network.region, instance.primaryAddress),
    PublicDnsName: publicAddress === undefined ? '' : publicDnsName(network.region, publicAddress),
    StateTransitionReason: '',
    AmiLaunchIndex: instance.launchIndex,
    InstanceType: instance.type,
    LaunchTime: new Date(instance.launchTime),
    Placement: {
      AvailabilityZone: instance.zone,
      AvailabilityZoneId: zoneIdOf(instance.zone),
      GroupName: '',
      Tenancy: 'default',
    },
    Monitoring: { State: 'disabled' },
    ...(ended
      ? {}
      : { SubnetId: instance.subnetId, VpcId: instance.vpcId, PrivateIpAddress: instance.primaryAddress }),
    PublicIpAddress: publicAddress,
    Architecture: type.architecture,
    RootDeviceType: 'ebs',
    VirtualizationType: 'hvm',
    // EC2 reports xen for Nitro instances too.
    Hypervisor: 'xen',
    ClientToken: instance.clientToken ?? '',
    EbsOptimized: false,
    EnaSupport: type.hypervisor !== 'xen',
    SourceDestCheck: primary?.sourceDestCheck,
    NetworkInterfaces: records.map((one) => answers.describeInside(one)),
    SecurityGroups: primary === undefined ? [] : (answers.describe(primary).Groups ?? []),
    Tags: tagsOut(instance.tags),
  };
}
