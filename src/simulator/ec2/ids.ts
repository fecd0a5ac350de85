// The form of EC2's ids, and its refusals of malformed and unknown ones
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html; the spelling is EC2's own).
import type { RecordKind } from '../cloud/records.ts';
import { Ec2Refusal } from './ec2-refusal.ts';

interface IdRule {
  readonly prefix: string;
  /** Code for a malformed id; if absent, it is refused as unknown. */
  readonly malformed?: string;
  readonly notFound: string;
  /** EC2's name of the resource in messages. */
  readonly label: string;
}

const rules: Readonly<Record<RecordKind | 'attachment', IdRule>> = {
  vpcs: {
    prefix: 'vpc',
    malformed: 'InvalidVpcID.Malformed',
    notFound: 'InvalidVpcID.NotFound',
    label: 'vpc ID',
  },
  subnets: {
    prefix: 'subnet',
    malformed: 'InvalidSubnetID.Malformed',
    notFound: 'InvalidSubnetID.NotFound',
    label: 'subnet ID',
  },
  reservations: {
    prefix: 'scr',
    notFound: 'InvalidSubnetCidrReservationID.NotFound',
    label: 'subnet CIDR reservation ID',
  },
  routeTables: {
    prefix: 'rtb',
    malformed: 'InvalidRouteTableId.Malformed',
    notFound: 'InvalidRouteTableID.NotFound',
    label: 'routeTable ID',
  },
  groups: {
    prefix: 'sg',
    malformed: 'InvalidGroupId.Malformed',
    notFound: 'InvalidGroup.NotFound',
    label: 'security group',
  },
  publicAddresses: {
    prefix: 'eipalloc',
    notFound: 'InvalidAllocationID.NotFound',
    label: 'allocation ID',
  },
  instances: {
    prefix: 'i',
    malformed: 'InvalidInstanceID.Malformed',
    notFound: 'InvalidInstanceID.NotFound',
    label: 'instance ID',
  },
  interfaces: {
    prefix: 'eni',
    malformed: 'InvalidNetworkInterfaceId.Malformed',
    notFound: 'InvalidNetworkInterfaceID.NotFound',
    label: 'networkInterface ID',
  },
  attachment: {
    prefix: 'eni-attach',
    malformed: 'InvalidNetworkInterfaceAttachmentId.Malformed',
    notFound: 'InvalidAttachmentID.NotFound',
    label: 'networkInterface attachment ID',
  },
};

/** An id has 8 digits, or 17 like all new ones. */
const digits = /^([0-9a-f]{8}|[0-9a-f]{17})$/;

/** Refuses a malformed id of that kind. */
export function refuseMalformedId(kind: RecordKind | 'attachment', id: string): void {
  const { prefix, malformed } = rules[kind];
  if (id.startsWith(`${prefix}-`) && digits.test(id.slice(prefix.length + 1))) return;
  if (malformed === undefined) throw idNotFound(kind, id);
  const expected = kind === 'instances' ? '' : ` (expecting "${prefix}-...")`;
  throw new Ec2Refusal(malformed, `Invalid id: "${id}"${expected}`);
}

/** EC2's refusal of an unknown id. */
export function idNotFound(kind: RecordKind | 'attachment', id: string): Ec2Refusal {
  const { notFound, label } = rules[kind];
  return new Ec2Refusal(notFound, `The ${label} '${id}' does not exist`);
}
