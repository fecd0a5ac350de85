// The only file that knows the error codes of ECS, VPC and RAM (https://api.aliyun.com/document/Ecs/2014-05-26/errorCode).
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
import { type CallError, type CloudCall, type Denial, ownCodes } from '../gate/cloud-call.ts';

/** A client token must stand for one request. */
const ownBug = 'IdempotentParameterMismatch';

const kinds = mapOf<CloudFailureKind>({
  'InvalidVSwitchId.IpNotEnough': 'subnetExhausted',
  // "Don't have enough private IPs in this switch."
  'QuotaExceeded.PrivateIpAddress': 'subnetExhausted',
  'InvalidVSwitchId.NotFound': 'subnetGone',
  EniPerInstanceLimitExceeded: 'limitReached',
  SecondaryPrivateIpAddressesLimitExceeded: 'limitReached',
  'InvalidOperation.Ipv4CountExceeded': 'limitReached',
  MaxEniCountExceeded: 'limitReached',
  'InvalidOperation.AdvancedSecurityGroupAndOverloaded': 'limitReached',
  'InvalidEcsId.NotFound': 'instanceGone',
  'InvalidInstanceId.NotFound': 'instanceGone',
  'InvalidInstanceId.Released': 'instanceGone',
  'InvalidInstance.NotFound': 'instanceGone',
  'Forbidden.InstanceNotFound': 'instanceGone',
  IncorrectInstanceStatus: 'instanceNotRunning',
  'InvalidOperation.InvalidEcsState': 'instanceNotRunning',
  'InvalidEniId.NotFound': 'interfaceGone',
  'InvalidIp.IpUnassigned': 'notAssigned',
  'InvalidIp.NotExist': 'notAssigned',
  // The interface is attaching, detaching or being created.
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
  NoPermission: 'notAuthorized',
  'Forbidden.RegionId': 'invalid',
  'InvalidUserType.NotSupported': 'notAuthorized',
  UserDisable: 'notAuthorized',
  ...ownCodes,
});

type Subject = NonNullable<CloudFailure['about']>;

/** Codes for the account itself, with what a person can do. */
const ofAccount: ReadonlyMap<string, string> = new Map([
  ['InvalidUserType.NotSupported', 'use an account that may use ECS'],
  ['UserDisable', 'settle with Alibaba Cloud why the account is disabled'],
  ['Forbidden.AccountClosed', 'settle with Alibaba Cloud why the account is closed'],
  ['Forbidden.NotSupportRAM', 'use an identity that is no RAM user: this call does not know them'],
  ['Forbidden.RegionId', 'use a region that has this function of ECS'],
]);

/** Families of codes for the account, and of messages: the first that fits. */
const accountForms: readonly { readonly codes: RegExp; readonly text: RegExp; readonly remedy: string }[] = [
  {
    codes:
      /arrear|^InvalidAccountStatus\.(?:NotEnoughBalance|Overdue)|^PAY\.INSUFFICIENT_BALANCE$|^ACCOUNT_BALANCE_EXCEEDED$|^AccountMoneyValidateError$/i,
    text: ofUnpaidAccount,
    remedy: 'settle the balance of the account',
  },
  {
    codes:
      /^(?:InvalidAccountStatus\b|(?:Forbidden\.)?Account.*(?:Closed|Disabled?|Frozen|Locked|Suspended)$)/,
    text: ofLostAccount,
    remedy: 'settle with Alibaba Cloud what keeps the account from being used',
  },
];

/** The remedy for an error about the account; undefined for other errors. */
function accountRemedy({ code, message }: CallError): string | undefined {
  return (
    ofAccount.get(code) ??
    accountForms.find(({ codes, text }) => codes.test(code) || text.test(message))?.remedy
  );
}

interface SubjectOfCodes {
  readonly codes: RegExp;
  readonly about: Subject;
  /** The only call whose codes have this subject. */
  readonly of?: string;
}

/** Subjects of codes whose kind does not tell the subject. The first match counts. */
const subjects: readonly SubjectOfCodes[] = [
  { codes: /^(InvalidSecurityGroup|SecurityGroup)/, about: 'securityGroups' },
  { codes: /^InvalidOperation\.AdvancedSecurityGroup/, about: 'securityGroups' },
  // All interfaces of the region count. That of a vSwitch's addresses is about the vSwitch.
  {
    codes: /^(QuotaExceed(?!ed\.PrivateIpAddress$)|Quota\.|MaxEniCountExceeded$)/,
    about: 'action',
    of: 'CreateNetworkInterface',
  },
  { codes: /^IncorrectVSwitchStatus$/, about: 'subnet' },
  {
    codes: /^InvalidOperation\.(InvalidEniType|EniServiceManaged|EniLinked|HasMemberEniAttached)$/,
    about: 'interface',
  },
];

/** The code that every call of the process gets with a wrong region. */
const wrongRegion = 'InvalidRegionId.NotFound';

/** Remedies for codes whose message names none. */
const advice = mapOf<string>({
  [wrongRegion]: 'set --alibaba-cloud-region to the region of the nodes',
  'InvalidOperation.InvalidEniType':
    'use an instance type to which interfaces can be attached while it runs, if this goes on',
  'InvalidSecurityGroupId.NotFound': 'correct spec.alibaba-cloud.security-groups of the node',
});

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
  ['Abs.InvalidAccount.NotFound', 'invalid'],
]);

/** Codes for a known identity that lacks a permission. The cloud misspells `Forbbiden.SubUser`. */
const missingPermissions: ReadonlySet<string> = new Set([
  'Forbidden.RAM',
  'Forbidden.SubUser',
  'Forbbiden.SubUser',
  'Forbidden.Unauthorized',
  'NoPermission',
  'Forbidden',
]);

/** Codes for a time that is too far from the cloud's: the credentials may be as they should. */
const ofClock = /^(InvalidTimeStamp|IllegalTimestamp)/;

/** Codes for the inside of the cloud. */
const ofInside = /^(InternalError|ServiceUnavailable|UnknownError|RequestTimeout)$/;

/** Something in between sends requests a second time. */
const ofNonce = /^SignatureNonce/;

/** Families of codes, each with many members. */
const byForm: readonly { readonly form: RegExp; readonly kind: CloudFailureKind }[] = [
  { form: /^Throttling/, kind: 'throttled' },
  { form: /^(QuotaExceed|Quota\.)|(Limit|Count)Exceed(ed)?$/, kind: 'limitReached' },
  { form: ofClock, kind: 'notAuthorized' },
  { form: /^(IncorrectInstanceStatus|InvalidInstanceStatus)/, kind: 'instanceNotRunning' },
  { form: /^(Invalid|Missing|Malformed|Unsupported)/, kind: 'invalid' },
  { form: /^Forb(id|bi)den/, kind: 'notAuthorized' },
];

/**
 * The string to sign, which differs in each request. Messages leave it out, because a text must not change while its
 * cause stays.
 */
const signed = /\s*(?:the )?server string to sign is\b.*$/is;

export function failureOf({ name }: Pick<CloudCall, 'name'>, error: CallError): CloudFailure {
  const { code } = error;
  const isDenied = missingPermissions.has(code) && accountRemedy(error) === undefined;
  const permission = isDenied ? (namedIn(error.denial) ?? permissionOf(name)) : undefined;
  const credentials = ofClock.test(code) ? 'clock' : credentialTrouble.get(code);
  const { kind, about, remedy } = meaningOf(name, error);
  return failureWith(
    { kind, action: name, ...sanitizedAnswer(error, advised(error)) },
    { permission, about, credentials, remedy, ...(isDenied && denialFields(error.denial)) },
  );
}

/** Policies whose denial no policy of the role lifts. */
const overruling: ReadonlyMap<string | undefined, string> = new Map([
  ['ControlPolicy', 'control policy of the resource directory'],
  ['SessionPolicy', 'session policy'],
]);

/** Who denies it, if allowing it to the role is not enough, and what only RAM can decode of it. */
function denialFields(denial: Denial | undefined): Partial<Parameters<typeof failureWith>[1]> {
  const { policy, isExplicit = false, encoded } = denial ?? {};
  const deniedBy = overruling.get(policy) ?? (isExplicit ? 'RAM policy' : undefined);
  return { deniedBy, encodedDenial: encoded?.slice(0, maxEncodedDenial) };
}

/** The permission that the answer names: it may be another one than the call's own. */
function namedIn(denial: Denial | undefined): string | undefined {
  const named = denial?.permission ?? '';
  return /^[a-z][a-z-]{0,30}:[A-Za-z]{1,80}$/.test(named) ? named : undefined;
}

interface Meaning {
  readonly kind: CloudFailureKind;
  readonly about: Subject | undefined;
  readonly remedy: string | undefined;
}

function meaningOf(name: string, error: CallError): Meaning {
  if (name === 'AttachNetworkInterface' && onlyStopped.test(error.message)) return ofStoppedType;
  const kind = kindOf(name, error);
  const isInside = ofInside.test(error.code) || (kind === 'unreachable' && isOfInside(error));
  // A thing that ECS does not know yet says nothing about others.
  const about = kind === 'notYetVisible' ? undefined : subjectOf(name, error);
  return { kind, about, remedy: isInside ? insideCloud : remedyFor(error) };
}

/** Some instance types take interfaces only while they are stopped. */
const onlyStopped = /expecting status is\W*stopped\W.*current status is\W*running/i;

const ofStoppedType: Meaning = {
  kind: 'invalid',
  about: 'instance',
  remedy:
    'this instance type takes interfaces only while it is stopped: attach them, with an index tag, before the node joins, or use another type',
};

function subjectOf(name: string, error: CallError): Subject | undefined {
  const { code } = error;
  if (credentialTrouble.has(code) || ofClock.test(code)) return 'action';
  if (accountRemedy(error) !== undefined) return 'action';
  if (code === wrongRegion) return 'action';
  return subjects.find(({ codes, of = name }) => of === name && codes.test(code))?.about;
}

/** The remedy for errors whose kind does not tell it. */
function remedyFor(error: CallError): string | undefined {
  const { code } = error;
  if (ofClock.test(code)) return setClock;
  if (ofNonce.test(code)) return 'find what sends requests of Headwater twice, such as a proxy that retries';
  return accountRemedy(error);
}

function advised({ code, message: given }: CallError): string {
  const message = given.replace(signed, '');
  if (code === ownBug) return `this is a bug in Headwater, report it: ${message}`;
  const todo = advice.get(code);
  return todo === undefined ? message : `${message} (${todo})`;
}

/** The permission for an action, as a RAM policy names it. */
export function permissionOf(action: string): string {
  return `${action === 'DescribeVpcs' || action === 'DescribeVSwitches' ? 'vpc' : 'ecs'}:${action}`;
}

/** Kinds and codes that ECS may answer for a new interface that it does not know yet. */
const unknownYet: ReadonlySet<string> = new Set(['interfaceGone', 'InvalidOperation.InvalidEniType']);

function kindOf(name: string, error: CallError): CloudFailureKind {
  const { code, result } = error;
  if (credentialTrouble.has(code)) return 'notAuthorized';
  const known = kinds.get(code);
  // ECS may not know an interface for some seconds after its creation, nor its type, and we attach only new ones.
  if (name === 'AttachNetworkInterface' && unknownYet.has(known ?? code)) return 'notYetVisible';
  if (known !== undefined) return known;
  const family = familyOf(error);
  if (family === 'throttled') return family;
  if (result !== 'refused') return 'unreachable';
  return family ?? 'unknown';
}

function familyOf(error: CallError): CloudFailureKind | undefined {
  if (accountRemedy(error) !== undefined) return 'notAuthorized';
  return byForm.find(({ form }) => form.test(error.code))?.kind;
}
