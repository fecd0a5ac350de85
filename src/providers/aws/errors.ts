// The only file that knows EC2's error codes
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CloudFailure, CloudFailureKind } from '../contract/cloud-failure.ts';
import { type CallError, ownCodes } from '../gate/cloud-call.ts';

const kinds: Readonly<Record<string, CloudFailureKind>> = {
  RequestLimitExceeded: 'throttled',
  Throttling: 'throttled',
  ThrottlingException: 'throttled',
  RequestThrottled: 'throttled',
  RequestThrottledException: 'throttled',
  EC2ThrottledException: 'throttled',
  PriorRequestNotComplete: 'throttled',
  SlowDown: 'throttled',
  InsufficientFreeAddressesInSubnet: 'subnetExhausted',
  'InvalidSubnetID.NotFound': 'subnetGone',
  InsufficientCidrBlocks: 'prefixSpaceFragmented',
  PrivateIpAddressLimitExceeded: 'limitReached',
  AttachmentLimitExceeded: 'limitReached',
  NetworkInterfaceLimitExceeded: 'limitReached',
  'InvalidInstanceID.NotFound': 'instanceGone',
  IncorrectInstanceState: 'instanceNotRunning',
  'InvalidNetworkInterfaceID.NotFound': 'interfaceGone',
  'InvalidAttachmentID.NotFound': 'interfaceGone',
  'InvalidNetworkInterface.InUse': 'conflict',
  IdempotentParameterMismatch: 'conflict',
  'Resource.AlreadyAssociated': 'conflict',
  // For addresses that a listing showed moments ago.
  'InvalidAllocationID.NotFound': 'conflict',
  UnauthorizedOperation: 'notAuthorized',
  OptInRequired: 'notAuthorized',
  AccessDenied: 'notAuthorized',
  AccessDeniedException: 'notAuthorized',
  Blocked: 'notAuthorized',
  ...ownCodes,
};

type Subject = NonNullable<CloudFailure['about']>;

/** Codes with several meanings, distinguished by their message. */
const byText: readonly { readonly code: string; readonly text: RegExp; readonly kind: CloudFailureKind }[] = [
  { code: 'InvalidParameterValue', text: /interface attached at device/, kind: 'deviceIndexTaken' },
  {
    code: 'InvalidParameterValue',
    text: /aren't sufficient free Ipv4 addresses or prefixes/,
    kind: 'prefixSpaceFragmented',
  },
  {
    code: 'InvalidParameterValue',
    text: /addresses are not assigned to interface|prefixes are not assigned/i,
    kind: 'notAssigned',
  },
  { code: 'InvalidParameterValue', text: /^Network interface '\S+' is currently in use/, kind: 'conflict' },
  { code: 'IncorrectState', text: /is not 'running'/, kind: 'instanceNotRunning' },
];

/** What a code concerns, if its kind does not say it. */
const subjects: Readonly<Record<string, Subject>> = {
  // The limit counts all interfaces of the region
  // (https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html).
  NetworkInterfaceLimitExceeded: 'action',
  'InvalidGroup.NotFound': 'securityGroups',
  'InvalidSecurityGroupID.NotFound': 'securityGroups',
  SecurityGroupsPerInterfaceLimitExceeded: 'securityGroups',
  SecurityGroupLimitExceeded: 'securityGroups',
};

/** Codes that concern several things, distinguished by their message. */
const subjectsByText: readonly {
  readonly code: string;
  readonly text: RegExp;
  readonly about: Subject;
}[] = [
  {
    code: 'InvalidParameterValue',
    text: /^Security group \S+ and subnet \S+ belong to different networks/,
    about: 'securityGroups',
  },
  { code: 'UnsupportedOperation', text: /does not support prefixes/, about: 'prefixes' },
];

/** Parts that differ in each message. Without them, equal refusals have equal texts. */
const encodedPart = /\s*Encoded authorization failure message: \S+/;
const freshId = /\b(eni|eni-attach)-[0-9a-f]{8,17}\b/g;

export function failureOf(action: string, error: CallError): CloudFailure {
  const permission = deniedPermission(action, error);
  const about = subjectOf(error, permission);
  const credentials = credentialTrouble.get(error.code);
  return {
    kind: kindOf(action, error),
    action,
    ...sanitizedAnswer(error, error.message.replace(encodedPart, '').replace(freshId, '$1-…')),
    ...(permission !== undefined && { permission }),
    ...(about !== undefined && { about }),
    ...(credentials !== undefined && { credentials }),
  };
}

/** Codes for an unknown or expired identity: no policy fixes that. */
const credentialTrouble: ReadonlyMap<string, NonNullable<CloudFailure['credentials']>> = new Map([
  ['AuthFailure', 'invalid'],
  ['InvalidClientTokenId', 'invalid'],
  ['UnrecognizedClientException', 'invalid'],
  ['MissingAuthenticationToken', 'invalid'],
  ['SignatureDoesNotMatch', 'invalid'],
  ['CredentialsProviderError', 'invalid'],
  ['TokenProviderError', 'invalid'],
  ['RequestExpired', 'expired'],
  ['ExpiredToken', 'expired'],
  ['ExpiredTokenException', 'expired'],
]);

function kindOfCode(code: string): CloudFailureKind | undefined {
  return credentialTrouble.has(code) ? 'notAuthorized' : kinds[code];
}

/** Codes for a known identity that lacks a permission. Other codes mean an unknown identity. */
const missingPermissions: ReadonlySet<string> = new Set([
  'UnauthorizedOperation',
  'AccessDenied',
  'AccessDeniedException',
]);

/** The denied permission may not be the call's own: its tags need another, and so does assuming a role. */
function deniedPermission(action: string, { code, message }: CallError): string | undefined {
  if (!missingPermissions.has(code)) return undefined;
  const [, named] = /is not authorized to perform: ([a-z0-9-]+:[A-Za-z0-9]+)/.exec(message) ?? [];
  return named ?? (code === 'UnauthorizedOperation' ? `ec2:${action}` : undefined);
}

/** Resources by their type in an ARN. */
const subjectsByType: Readonly<Record<string, Subject>> = {
  subnet: 'subnet',
  'security-group': 'securityGroups',
  'network-interface': 'interface',
  instance: 'instance',
};

function subjectOf({ code, message }: CallError, permission: string | undefined): Subject | undefined {
  if (permission !== undefined) return deniedSubject(message);
  // An unknown identity may do nothing at all. EC2 also uses AuthFailure for resources of other accounts.
  if (kindOfCode(code) === 'notAuthorized' && code !== 'AuthFailure' && !missingPermissions.has(code))
    return 'action';
  const byText = subjectsByText.find((each) => each.code === code && each.text.test(message));
  return byText?.about ?? subjects[code];
}

/** A denial on one resource says nothing about another. The name of a new interface is `*`. */
function deniedSubject(message: string): Subject | undefined {
  const [, type = '', id] = / on resource: arn:[^:]*:ec2:[^:]*:[^:]*:([a-z-]+)\/(\S+)/.exec(message) ?? [];
  if (id === undefined) return / is not authorized to perform: /.test(message) ? 'action' : undefined;
  return id === '*' ? 'action' : subjectsByType[type];
}

function kindOf(action: string, error: CallError): CloudFailureKind {
  const known =
    byText.find(({ code, text }) => code === error.code && text.test(error.message))?.kind ??
    kindOfCode(error.code);
  // EC2 may not know an interface for some seconds after its creation, and we attach and modify only new ones.
  if (
    known === 'interfaceGone' &&
    (action === 'AttachNetworkInterface' || action === 'ModifyNetworkInterfaceAttribute')
  ) {
    return 'notYetVisible';
  }
  if (known !== undefined) return known;
  if (error.result !== 'refused') return 'unreachable';
  if (/^(Invalid|Missing|Malformed|Unknown|Unsupported)/.test(error.code)) return 'invalid';
  return 'unknown';
}
