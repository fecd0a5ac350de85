// Launches instances.
import { CloudRefusal } from '../../cloud/cloud-refusal.ts';
import type { CloudNetwork } from '../../cloud/cloud-network.ts';
import { launch, type LaunchInterface, plainInterface, undoLaunch } from '../../cloud/instances.ts';
import type { Instance, InterfaceType, Tags } from '../../cloud/records.ts';
import { type Action, action } from '../action.ts';
import { Ec2Refusal, invalidParameterCombination, invalidParameterValue } from '../ec2-refusal.ts';
import { as, flag, idOf, integer, list, type Members, oneOf, record, required, text } from '../shape.ts';
import { specifiedTags, tagSpecifications } from '../tag-shapes.ts';
import { reservationShape, reservationsOf } from './instance-answers.ts';
import { ipv6Claim, newAddresses, newAddressFields } from './network-interfaces.ts';

/** The API's default type. */
const defaultType = 'm1.small';

const interfaceFields = {
  ...newAddressFields,
  AssociatePublicIpAddress: flag,
  DeleteOnTermination: flag,
  Description: text,
  DeviceIndex: integer,
  Groups: as('SecurityGroupId', list(idOf('groups'))),
  InterfaceType: oneOf('interface', 'efa', 'efa-only'),
  NetworkCardIndex: integer,
  NetworkInterfaceId: idOf('interfaces'),
  SubnetId: idOf('subnets'),
} as const;

const inputFields = {
  ImageId: required(text),
  InstanceType: text,
  MinCount: required(integer),
  MaxCount: required(integer),
  SubnetId: idOf('subnets'),
  SecurityGroupIds: as('SecurityGroupId', list(idOf('groups'))),
  PrivateIpAddress: text,
  NetworkInterfaces: as('NetworkInterface', list(record(interfaceFields))),
  KeyName: text,
  UserData: text,
  Placement: record({ AvailabilityZone: text, GroupName: text, Tenancy: text }),
  TagSpecifications: tagSpecifications,
  ClientToken: text,
} as const;

type Input = Members<typeof inputFields>;
type InterfaceInput = Members<typeof interfaceFields>;

const runInstances = action({
  input: record(inputFields),
  output: reservationShape,
  run: (input, { network, clientTokens, described }) => {
    refuseCounts(input);
    const types = ['instance', 'network-interface', 'volume'];
    const tags = specifiedTags(input.TagSpecifications, 'instance', types);
    const interfaceTags = specifiedTags(input.TagSpecifications, 'network-interface', types);
    const interfaces = launchInterfaces(input, interfaceTags);
    const { ClientToken, ...parameters } = input;
    const request = { action: 'RunInstances', token: ClientToken, parameters };
    const { made } = clientTokens.once(request, () => launchAll(network, input, interfaces, tags));
    const instances = [...network.instances.values()].filter((one) => one.reservationId === made);
    if (instances.every(({ state }) => state === 'terminated')) {
      throw new Ec2Refusal(
        'IdempotentInstanceTerminated',
        'The instance of this client token is terminated.',
      );
    }
    const [reservation] = reservationsOf(instances, { network, view: network.view(0), described });
    return reservation ?? { ReservationId: made, Instances: [] };
  },
});

/** Launches as many instances as there is room for, and refuses below the minimum; returns the reservation id. */
function launchAll(
  network: CloudNetwork,
  input: Input,
  interfaces: readonly LaunchInterface[],
  tags: Tags,
): string {
  const reservationId = network.newId('r');
  const launched: Instance[] = [];
  try {
    while (launched.length < input.MaxCount) {
      launched.push(
        launch(network, {
          reservationId,
          launchIndex: launched.length,
          type: input.InstanceType ?? defaultType,
          imageId: input.ImageId,
          clientToken: input.ClientToken,
          interfaces,
          tags,
        }),
      );
    }
  } catch (error) {
    const full = error instanceof CloudRefusal && error.problem.kind === 'noFreeAddress';
    if (!full || launched.length < input.MinCount) {
      launched.forEach((instance) => undoLaunch(network, instance.id));
      throw error;
    }
  }
  return reservationId;
}

function refuseCounts({ MinCount, MaxCount, NetworkInterfaces = [] }: Input): void {
  if (MinCount < 1) throw invalidParameterValue(`Value (${MinCount}) for parameter minCount is invalid.`);
  if (MaxCount < MinCount)
    throw invalidParameterValue(`Value (${MaxCount}) for parameter maxCount is invalid.`);
  const certain = NetworkInterfaces.some(
    (one) => one.NetworkInterfaceId !== undefined || one.PrivateIpAddress !== undefined,
  );
  if (certain && MaxCount > 1) {
    throw invalidParameterCombination(
      'Multiple instances cannot be launched with a certain network interface or address',
    );
  }
}

function launchInterfaces(input: Input, tags: Tags): readonly LaunchInterface[] {
  const { NetworkInterfaces = [], SubnetId, SecurityGroupIds = [], PrivateIpAddress } = input;
  if (NetworkInterfaces.length === 0) {
    const subnetId = SubnetId ?? noDefaultVpc();
    const request = { ...plainInterface(subnetId, SecurityGroupIds), primaryAddress: PrivateIpAddress, tags };
    return [{ kind: 'new', request, deviceIndex: 0, cardIndex: 0, deleteOnTermination: true }];
  }
  if (SubnetId !== undefined || SecurityGroupIds.length > 0 || PrivateIpAddress !== undefined) {
    throw invalidParameterCombination(
      'Network interfaces and an instance-level subnet ID, security groups or private IP address may not be specified on the same request',
    );
  }
  const plans = NetworkInterfaces.map((one) => launchInterface(one, tags));
  if (!plans.some(({ deviceIndex, cardIndex }) => deviceIndex === 0 && cardIndex === 0)) {
    throw invalidParameterCombination('The primary network interface (device index 0) must be specified');
  }
  return plans;
}

function launchInterface(input: InterfaceInput, tags: Tags): LaunchInterface {
  const { DeviceIndex, NetworkCardIndex = 0, NetworkInterfaceId, Groups = [] } = input;
  if (DeviceIndex === undefined) {
    throw new Ec2Refusal('MissingParameter', 'The request must contain the parameter deviceIndex');
  }
  const place = { deviceIndex: DeviceIndex, cardIndex: NetworkCardIndex };
  if (NetworkInterfaceId !== undefined) {
    const { DeleteOnTermination = false } = input;
    return {
      ...place,
      kind: 'existing',
      interfaceId: NetworkInterfaceId,
      deleteOnTermination: DeleteOnTermination,
    };
  }
  const { primaryAddress, claim } = newAddresses(input);
  const request = {
    subnetId: input.SubnetId ?? noDefaultVpc(),
    primaryAddress,
    claim,
    ipv6: ipv6Claim(input),
    type: (input.InterfaceType ?? 'interface') as InterfaceType,
    groupIds: Groups,
    description: input.Description ?? '',
    tags,
  };
  // By default the primary interface is deleted with its instance, and others are not.
  const { DeleteOnTermination = DeviceIndex === 0 } = input;
  return { ...place, kind: 'new', request, deleteOnTermination: DeleteOnTermination };
}

function noDefaultVpc(): never {
  throw new Ec2Refusal('VPCIdNotSpecified', 'No default VPC for this user');
}

export const runInstancesActions: Readonly<Record<string, Action>> = { RunInstances: runInstances };
