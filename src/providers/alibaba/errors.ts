// The only file that knows the error codes of ECS, VPC and RAM (https://api.aliyun.com/document/Ecs/2014-05-26/errorCode).
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CloudFailure, CloudFailureKind } from '../contract/cloud-failure.ts';
import { type CallError, type CloudCall, ownCodes } from '../gate/cloud-call.ts';

/** A client token must stand for one request. */
const ownBug = 'IdempotentParameterMismatch';

const kinds: Readonly<Record<string, CloudFailureKind>> = {
  'InvalidVSwitchId.IpNotEnough': 'subnetExhausted',
  'InvalidVSwitchId.NotFound': 'subnetGone',
  EniPerInstanceLimitExceeded: 'limitReached',
  SecondaryPrivateIpAddressesLimitExceeded: 'limitReached',
  'InvalidOperation.Ipv4CountExceeded': 'limitReached',
  'QuotaExceeded.PrivateIpAddress': 'limitReached',
  'InvalidOperation.AdvancedSecurityGroupAndOverloaded': 'limitReached',
  'InvalidEcsId.NotFound': 'instanceGone',
  'InvalidInstanceId.NotFound': 'instanceGone',
  IncorrectInstanceStatus: 'instanceNotRunning',
  'InvalidOperation.InvalidEcsState': 'instanceNotRunning',
  'InvalidEniId.NotFound': 'interfaceGone',
  'InvalidIp.IpUnassigned': 'notAssigned',
  'InvalidIp.NotExist': 'notAssigned',
  // It is attaching, detaching or being created.
  'InvalidOperation.InvalidEniState': 'conflict',
  OperationConflict: 'conflict',
  'Operation.Conflict': 'conflict',
  'InvalidOperation.Conflict': 'conflict',
  // An earlier request with the same token is still under way: the same request again finds its end.
  IdempotentProcessing: 'conflict',
  IdempotentFailed: 'conflict',
  [ownBug]: 'invalid',
  AttachmentFellBack: 'conflict',
  AttachmentNotEnded: 'unknown',
  Forbidden: 'notAuthorized',
  NoPermission: 'notAuthorized',
  'Forbidden.RAM': 'notAuthorized',
  'Forbidden.NotSupportRAM': 'notAuthorized',
  ...ownCodes,
};

type Subject = NonNullable<CloudFailure['about']>;

/** What a code concerns, if its kind does not say it. */
const subjects: Readonly<Record<string, Subject>> = {
  'InvalidSecurityGroupId.NotFound': 'securityGroups',
  'InvalidSecurityGroupId.NotMatch': 'securityGroups',
  'InvalidSecurityGroup.NotInVpc': 'securityGroups',
  SecurityGroupInstanceLimitExceed: 'securityGroups',
  // All interfaces of the region count.
  'QuotaExceed.NetworkInterface': 'action',
};

/** What to do about a code whose message does not say it. */
const advice: Readonly<Record<string, string>> = {
  'InvalidRegionId.NotFound': 'set --alibaba-cloud-region to the region of the nodes',
  'InvalidSecurityGroupId.NotFound': 'correct spec.alibaba-cloud.security-groups of the node',
};

/** Codes for an unknown or expired identity: no policy fixes that. */
const credentialTrouble: ReadonlyMap<string, NonNullable<CloudFailure['credentials']>> = new Map([
  ['InvalidAccessKeyId.NotFound', 'invalid'],
  ['InvalidAccessKeyId.Inactive', 'invalid'],
  ['InvalidSecurityToken.Malformed', 'invalid'],
  ['InvalidSecurityToken.MismatchWithAccessKey', 'invalid'],
  ['SignatureDoesNotMatch', 'invalid'],
  ['IncompleteSignature', 'invalid'],
  ['CredentialsError', 'invalid'],
  ['CredentialsExpired', 'expired'],
  ['InvalidSecurityToken.Expired', 'expired'],
  ['InvalidTimeStamp.Expired', 'expired'],
]);

/** Codes for a known identity that lacks a permission. */
const missingPermissions: ReadonlySet<string> = new Set(['Forbidden.RAM', 'NoPermission', 'Forbidden']);

/** Families of codes, each with many members. */
const byForm: readonly { readonly form: RegExp; readonly kind: CloudFailureKind }[] = [
  { form: /^Throttling/, kind: 'throttled' },
  { form: /^(QuotaExceed|Quota\.)|LimitExceed(ed)?$/, kind: 'limitReached' },
  { form: /^(Invalid|Missing|Malformed|Unsupported)/, kind: 'invalid' },
  { form: /^Forbidden/, kind: 'notAuthorized' },
];

/** What the cloud signed, which differs from request to request: a text must not change while its cause stays. */
const signed = /\s*(?:the )?server string to sign is\b.*$/is;

export function failureOf({ name }: Pick<CloudCall, 'name'>, error: CallError): CloudFailure {
  const { code } = error;
  const permission = missingPermissions.has(code) ? permissionOf(name) : undefined;
  const credentials = credentialTrouble.get(code);
  const about = credentials === undefined ? subjects[code] : 'action';
  return {
    kind: kindOf(name, error),
    action: name,
    ...sanitizedAnswer(error, advised(error)),
    ...(permission !== undefined && { permission }),
    ...(about !== undefined && { about }),
    ...(credentials !== undefined && { credentials }),
  };
}

function advised({ code, message: given }: CallError): string {
  const message = given.replace(signed, '');
  if (code === ownBug) return `this is a bug in Headwater, report it: ${message}`;
  const todo = advice[code];
  return todo === undefined ? message : `${message} (${todo})`;
}

/** As a RAM policy names it. */
export function permissionOf(action: string): string {
  return `${action === 'DescribeVpcs' || action === 'DescribeVSwitches' ? 'vpc' : 'ecs'}:${action}`;
}

function kindOf(name: string, { code, result }: CallError): CloudFailureKind {
  if (credentialTrouble.has(code)) return 'notAuthorized';
  const known = kinds[code];
  // ECS may not know an interface for some seconds after its creation, and we attach only new ones.
  if (known === 'interfaceGone' && name === 'AttachNetworkInterface') return 'notYetVisible';
  if (known !== undefined) return known;
  const family = byForm.find(({ form }) => form.test(code))?.kind;
  if (family === 'throttled') return family;
  if (result !== 'refused') return 'unreachable';
  return family ?? 'unknown';
}
