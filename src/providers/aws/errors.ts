// The only file that knows EC2's error codes
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CloudFailure, CloudFailureKind } from '../contract/cloud-failure.ts';
import {
  failureWith,
  insideCloud,
  isOfInside,
  mapOf,
  maxEncodedDenial,
  ofLostAccount,
  ofUnpaidAccount,
  setClock,
} from '../contract/failure-tables.ts';
import { type CallError, ownCodes } from '../gate/cloud-call.ts';

const kinds = mapOf<CloudFailureKind>({
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
  'InvalidInterface.IpAddressLimitExceeded': 'limitReached',
  NetworkInterfaceLimitExceeded: 'limitReached',
  ResourceLimitExceeded: 'limitReached',
  ResourceCountExceeded: 'limitReached',
  SecurityGroupsPerInterfaceLimitExceeded: 'limitReached',
  SecurityGroupLimitExceeded: 'limitReached',
  'InvalidInstanceID.NotFound': 'instanceGone',
  IncorrectInstanceState: 'instanceNotRunning',
  'InvalidNetworkInterfaceID.NotFound': 'interfaceGone',
  'InvalidAttachmentID.NotFound': 'interfaceGone',
  'InvalidNetworkInterface.InUse': 'conflict',
  IdempotentParameterMismatch: 'conflict',
  'Resource.AlreadyAssociated': 'conflict',
  // For addresses that a listing showed moments ago.
  'InvalidAllocationID.NotFound': 'conflict',
  'InvalidAddress.NotFound': 'conflict',
  'InvalidIPAddress.InUse': 'conflict',
  UnauthorizedOperation: 'notAuthorized',
  AccessDenied: 'notAuthorized',
  AccessDeniedException: 'notAuthorized',
  RequestExpired: 'notAuthorized',
  'InvalidSecurity.RequestHasExpired': 'notAuthorized',
  ...ownCodes,
});

type Subject = NonNullable<CloudFailure['about']>;

/** Codes with several meanings, distinguished by their message. */
const byText: readonly { readonly code: string; readonly text: RegExp; readonly kind: CloudFailureKind }[] = [
  { code: 'InvalidParameterValue', text: /interface attached at device/, kind: 'deviceIndexTaken' },
  {
    code: 'InvalidParameterValue',
    text: /aren't sufficient free Ipv[46] addresses or prefixes/,
    kind: 'prefixSpaceFragmented',
  },
  {
    code: 'InvalidParameterValue',
    text: /addresses are not assigned to interface|prefixes are not assigned/i,
    kind: 'notAssigned',
  },
  { code: 'InvalidParameterValue', text: /^Network interface '\S+' is currently in use/, kind: 'conflict' },
  {
    code: 'IncorrectState',
    text: /is not '?running|not in a valid state|shutting-down|terminat/i,
    kind: 'instanceNotRunning',
  },
  {
    code: 'InvalidParameterValue',
    text: /^instance .*(?:shutting-down|terminated)/i,
    kind: 'instanceNotRunning',
  },
  { code: 'IncorrectState', text: /\b(?:attach|detach)(?:ing|ment)\b/i, kind: 'conflict' },
];

/** The subject of a code, if its kind does not say it. */
const subjects = mapOf<Subject>({
  // The limit counts all interfaces of the region
  // (https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html).
  NetworkInterfaceLimitExceeded: 'action',
  ResourceLimitExceeded: 'action',
  ResourceCountExceeded: 'action',
  'InvalidGroup.NotFound': 'securityGroups',
  'InvalidSecurityGroupID.NotFound': 'securityGroups',
  SecurityGroupsPerInterfaceLimitExceeded: 'securityGroups',
  SecurityGroupLimitExceeded: 'securityGroups',
});

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
  { code: 'InvalidParameterValue', text: /\bIPv6\b/i, about: 'ipv6' },
  { code: 'PrivateIpAddressLimitExceeded', text: /\bIPv6\b/i, about: 'ipv6' },
];

/** Parts that differ in each message. Without them, equal refusals have equal texts. */
const encodedPart = /\s*Encoded authorization failure message: (\S+)/;
const freshId = /\b(eni|eni-attach)-[0-9a-f]{8,17}\b/g;

/** Whether a dry run says that the call is permitted: it always fails. */
export function wouldSucceed({ code }: CloudFailure): boolean {
  return code === 'DryRunOperation';
}

export function failureOf(action: string, error: CallError): CloudFailure {
  const permission = deniedPermission(action, error);
  const about = lacksIpv6Right(action, permission) ? 'ipv6' : subjectOf(error, permission);
  const credentials = isOfClock(error) ? 'clock' : credentialTrouble.get(error.code);
  const kind = kindOf(action, error);
  const remedy = remedyFor(kind, error);
  const message = error.message.replace(encodedPart, '').replace(freshId, '$1-…');
  const denial = permission === undefined ? {} : denialIn(error.message);
  return failureWith(
    { kind, action, ...sanitizedAnswer(error, message) },
    { permission, about, credentials, remedy, ...denial },
  );
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
  ['ExpiredToken', 'expired'],
  ['ExpiredTokenException', 'expired'],
]);

function kindOfCode(code: string): CloudFailureKind | undefined {
  return credentialTrouble.has(code) ? 'notAuthorized' : kinds.get(code);
}

/** Codes for a time that is too far from the cloud's: the credentials may be as they should. */
const clockTrouble: ReadonlySet<string> = new Set(['RequestExpired', 'InvalidSecurity.RequestHasExpired']);

function isOfClock({ code, message }: CallError): boolean {
  return (
    clockTrouble.has(code) ||
    (code === 'SignatureDoesNotMatch' && /signature (?:expired|not yet current)/i.test(message))
  );
}

/** Codes for the inside of the cloud. */
const ownTrouble: ReadonlySet<string> = new Set([
  'InternalError',
  'InternalFailure',
  'ServiceUnavailable',
  'Unavailable',
]);

/** Codes for the account itself. */
const ofAccount: ReadonlyMap<string, string> = new Map([
  ['OptInRequired', 'subscribe the account to EC2 in this region'],
  ['SubscriptionRequiredException', 'subscribe the account to EC2 in this region'],
  ['Blocked', 'settle with AWS why the account is blocked'],
  ['PendingVerification', 'wait until AWS has verified the account'],
  ['AccountDisabled', 'settle with AWS why the account is disabled'],
]);

const ofAccountForm = /^Account(?:Blocked|Closed|Problem|Suspended)/;

/** The remedy for trouble with the account; undefined for other errors. */
function accountRemedy({ code, message }: CallError): string | undefined {
  const isMeant = [ofAccountForm.test(code), ofLostAccount.test(message), ofUnpaidAccount.test(message)];
  return ofAccount.get(code) ?? (isMeant.includes(true) ? lostAccount : undefined);
}

const lostAccount = 'settle with AWS what keeps the account from being used';

/** The remedy that the kind does not say. */
function remedyFor(kind: CloudFailureKind, error: CallError): string | undefined {
  if (isOfClock(error)) return setClock;
  const isInside = ownTrouble.has(error.code) || (kind === 'unreachable' && isOfInside(error));
  return isInside ? insideCloud : accountRemedy(error);
}

/** Codes for a known identity that lacks a permission. Other codes mean an unknown identity. */
const missingPermissions: ReadonlySet<string> = new Set([
  'UnauthorizedOperation',
  'AccessDenied',
  'AccessDeniedException',
]);

/** The denied permission may not be the call's own: its tags need another, and so does assuming a role. */
function deniedPermission(action: string, error: CallError): string | undefined {
  const { code, message } = error;
  if (!missingPermissions.has(code) || accountRemedy(error) !== undefined) return undefined;
  const [, named] = /is not authorized to perform: ([a-z0-9-]+:[A-Za-z0-9]+)/.exec(message) ?? [];
  return named ?? (code === 'UnauthorizedOperation' ? `ec2:${action}` : undefined);
}

/** Policies whose denial no policy of the role lifts, as the message names them. */
const overruling =
  /(?:explicit deny in|because no) (?:a |an )?((?:service control|resource control|session|VPC endpoint) policy|permissions boundary)/i;
/** A policy of the role itself that denies explicitly: to allow it elsewhere does not help. */
const explicit = /explicit deny in (?:a |an )?((?:identity|resource)-based policy)/i;

/** Who denies it, if allowing it to the role is not enough, and what only EC2 can decode of it. */
function denialIn(message: string): { deniedBy: string | undefined; encodedDenial: string | undefined } {
  const [, deniedBy] = overruling.exec(message) ?? explicit.exec(message) ?? [];
  const [, encodedDenial] = encodedPart.exec(message) ?? [];
  return { deniedBy, encodedDenial: encodedDenial?.slice(0, maxEncodedDenial) };
}

/** Resources by their type in an ARN. */
const subjectsByType = mapOf<Subject>({
  subnet: 'subnet',
  'security-group': 'securityGroups',
  'network-interface': 'interface',
  instance: 'instance',
});

function subjectOf(error: CallError, permission: string | undefined): Subject | undefined {
  const { code, message } = error;
  if (accountRemedy(error) !== undefined) return 'action';
  if (permission !== undefined) return deniedSubject(message);
  // An unknown identity may do nothing at all. EC2 also uses AuthFailure for resources of other accounts.
  if (kindOfCode(code) === 'notAuthorized' && code !== 'AuthFailure' && !missingPermissions.has(code))
    return 'action';
  const byText = subjectsByText.find((each) => each.code === code && each.text.test(message));
  return byText?.about ?? subjects.get(code);
}

/** A permission that another call than its own lacks: an interface is created with an IPv6 prefix. */
function lacksIpv6Right(action: string, permission: string | undefined): boolean {
  return permission === ipv6Permission && permission !== `ec2:${action}`;
}

const ipv6Permission = 'ec2:AssignIpv6Addresses';

/** A denial on one resource says nothing about another. The name of a new interface is `*`. */
function deniedSubject(message: string): Subject | undefined {
  const [, type = '', id] = / on resource: arn:[^:]*:ec2:[^:]*:[^:]*:([a-z-]+)\/(\S+)/.exec(message) ?? [];
  if (id === undefined) return / is not authorized to perform: /.test(message) ? 'action' : undefined;
  return id === '*' ? 'action' : subjectsByType.get(type);
}

function kindOf(action: string, error: CallError): CloudFailureKind {
  if (accountRemedy(error) !== undefined) return 'notAuthorized';
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
