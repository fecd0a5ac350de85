// Cloud-neutral reasons for a refusal. Each wire protocol maps a problem to its own code, status and message.
import type { AttachmentStatus, InstanceState, RecordKind } from './records.ts';

export type CloudProblem =
  | { readonly kind: 'notFound'; readonly what: RecordKind; readonly id: string }
  | { readonly kind: 'inUse'; readonly what: RecordKind; readonly id: string }
  | { readonly kind: 'attachmentNotFound'; readonly id: string }
  | { readonly kind: 'associationNotFound'; readonly id: string }
  | { readonly kind: 'unknownInstanceType'; readonly type: string }
  | { readonly kind: 'unknownZone'; readonly zone: string }
  // Addresses
  | { readonly kind: 'noFreeAddress'; readonly subnetId: string }
  | { readonly kind: 'noFreePrefixAddresses'; readonly subnetId: string }
  | { readonly kind: 'noFreeBlock'; readonly subnetId: string }
  | { readonly kind: 'addressMalformed'; readonly address: string }
  | { readonly kind: 'addressOutside'; readonly address: string }
  | { readonly kind: 'addressReserved'; readonly address: string }
  | { readonly kind: 'addressHeld'; readonly address: string }
  | { readonly kind: 'prefixMalformed'; readonly prefix: string }
  | { readonly kind: 'prefixHeld'; readonly prefix: string }
  | { readonly kind: 'addressRepeated'; readonly address: string }
  | { readonly kind: 'moveNotAllowed'; readonly addresses: readonly string[] }
  | { readonly kind: 'moveOfPrimary'; readonly address: string }
  | { readonly kind: 'notAssigned'; readonly interfaceId: string }
  | { readonly kind: 'primaryNotReleasable'; readonly address: string }
  | { readonly kind: 'addressLimit'; readonly interfaceId: string; readonly limit: number }
  | { readonly kind: 'launchAddressLimit'; readonly type: string; readonly limit: number }
  | { readonly kind: 'ipv6Limit'; readonly interfaceId: string; readonly limit: number }
  | { readonly kind: 'prefixesUnsupported'; readonly type: string }
  | { readonly kind: 'noIpv6'; readonly subnetId: string }
  // Attachments
  | { readonly kind: 'interfaceLimit'; readonly count: number; readonly type: string }
  | { readonly kind: 'indexTaken'; readonly instanceId: string; readonly deviceIndex: number }
  | { readonly kind: 'noSuchCard'; readonly cardIndex: number; readonly type: string }
  | { readonly kind: 'otherZone'; readonly interfaceId: string; readonly instanceId: string }
  | { readonly kind: 'otherOutpost'; readonly interfaceId: string; readonly instanceId: string }
  | { readonly kind: 'instanceState'; readonly instanceId: string; readonly state: InstanceState }
  | { readonly kind: 'attachmentState'; readonly id: string; readonly status: AttachmentStatus }
  | { readonly kind: 'primaryNotDetachable' }
  | { readonly kind: 'notAttached'; readonly interfaceId: string }
  | { readonly kind: 'managedAttachment' }
  | { readonly kind: 'managedInterface'; readonly interfaceId: string }
  | { readonly kind: 'alreadyAttached'; readonly interfaceId: string }
  | { readonly kind: 'efaUnsupported'; readonly type: string }
  // Networks
  | { readonly kind: 'blockMalformed'; readonly block: string }
  | { readonly kind: 'vpcBlockRange'; readonly block: string }
  | { readonly kind: 'subnetBlockRange'; readonly block: string }
  | { readonly kind: 'subnetConflict'; readonly block: string }
  | { readonly kind: 'blockConflict'; readonly block: string }
  | { readonly kind: 'reservationRange'; readonly block: string }
  | { readonly kind: 'reservationConflict'; readonly block: string }
  | { readonly kind: 'dependency'; readonly what: RecordKind; readonly id: string }
  | { readonly kind: 'groupOfOtherNetwork'; readonly groupId: string; readonly subnetId: string }
  | { readonly kind: 'tooManyGroups'; readonly limit: number }
  | { readonly kind: 'groupDuplicate'; readonly name: string; readonly vpcId: string }
  | { readonly kind: 'groupReserved'; readonly name: string }
  | { readonly kind: 'defaultGroup' }
  | { readonly kind: 'tableAssociated'; readonly subnetId: string }
  | { readonly kind: 'mainTable'; readonly id: string }
  | { readonly kind: 'tooManyTags' }
  | { readonly kind: 'reservedTag'; readonly key: string }
  | { readonly kind: 'publicAddressTaken'; readonly id: string };

/** The network refused the request and changed nothing. */
export class CloudRefusal extends Error {
  readonly problem: CloudProblem;

  constructor(problem: CloudProblem) {
    super(`the cloud refuses: ${JSON.stringify(problem)}`);
    this.name = 'CloudRefusal';
    this.problem = problem;
  }
}

/** Throws the refusal for a problem. */
export function refuse(problem: CloudProblem): never {
  throw new CloudRefusal(problem);
}
