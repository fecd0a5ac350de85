// The only file that knows the error codes of ARM and its providers
// (https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors).
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CloudFailure, CloudFailureKind } from '../contract/cloud-failure.ts';
import { failureWith, insideCloud, isOfInside, mapOf } from '../contract/failure-tables.ts';
import { type CallError, type CloudCall, ownCodes } from '../gate/cloud-call.ts';

const kinds = mapOf<CloudFailureKind>({
  TooManyRequests: 'throttled',
  SubscriptionRequestsThrottled: 'throttled',
  ResourceRequestsThrottled: 'throttled',
  ResourceCollectionRequestsThrottled: 'throttled',
  OperationThrottled: 'throttled',
  SubnetIsFull: 'subnetExhausted',
  SubnetNotFound: 'subnetGone',
  TooManyConfigurations: 'limitReached',
  QuotaExceeded: 'limitReached',
  InstanceNotFound: 'instanceGone',
  BeingDeleted: 'instanceGone',
  InterfaceNotInModel: 'interfaceGone',
  OperationNotAllowed: 'conflict',
  AnotherOperationInProgress: 'conflict',
  PreconditionFailed: 'conflict',
  Conflict: 'conflict',
  ConflictingUserInput: 'conflict',
  RetryableError: 'conflict',
  RetryableErrorDueToAnotherOperation: 'conflict',
  ReferencedResourceNotProvisioned: 'conflict',
  OperationPreempted: 'conflict',
  CanceledAndSupersededDueToAnotherOperation: 'conflict',
  ModelIsChanging: 'conflict',
  PreparationTooSlow: 'throttled',
  ConfigurationNotOurs: 'invalid',
  PublicAddressPresent: 'conflict',
  PublicIpPrefixOutOfIpAddressesForVMScaleSet: 'conflict',
  NotInScaleSet: 'invalid',
  OperationNotEnded: 'conflict',
  ChangeNotShown: 'conflict',
  AuthorizationFailed: 'notAuthorized',
  LinkedAuthorizationFailed: 'notAuthorized',
  DenyAssignmentAuthorizationFailed: 'notAuthorized',
  RequestDisallowedByPolicy: 'notAuthorized',
  ScopeLocked: 'notAuthorized',
  SubscriptionNotFound: 'notAuthorized',
  InvalidSubscriptionId: 'notAuthorized',
  MissingSubscription: 'notAuthorized',
  ReadOnlyDisabledSubscription: 'notAuthorized',
  Ended: 'unreachable',
  ...ownCodes,
});

interface MeaningByText {
  /** Undefined for any. */
  readonly code?: string;
  readonly text: RegExp;
  readonly kind: CloudFailureKind;
  /** The only calls of which it has that meaning. */
  readonly of?: readonly string[];
}

const updates = ['VirtualMachineScaleSetVMs.Update', 'Interfaces.CreateOrUpdate'];

/** Codes with several meanings, distinguished by their message. */
const byText: readonly MeaningByText[] = [
  { code: 'OperationNotAllowed', text: /\bquota\b|\blimit\b/i, kind: 'limitReached' },
  { code: 'OperationNotAllowed', text: /deallocat|not running/i, kind: 'instanceNotRunning' },
  { code: 'InvalidResourceReference', text: /\/subnets\//i, kind: 'subnetGone' },
  // A scale set without any VM. For a scale set that is itself gone, ARM answers ResourceNotFound.
  {
    code: 'NotFound',
    text: /^/,
    kind: 'instanceGone',
    of: ['Interfaces.ListVirtualMachineScaleSetNetworkInterfaces'],
  },
  // A VM that is being deleted, or was, alone or with its scale set: the reads that follow decide whether it is gone.
  {
    code: 'InvalidParameter',
    text: /not an active Virtual Machine Scale Set VM/i,
    kind: 'instanceGone',
    of: ['VirtualMachineScaleSetVMs.Update'],
  },
  { code: 'ParentResourceNotFound', text: /^/, kind: 'instanceGone', of: updates },
  { text: /\bmarked for deletion\b/i, kind: 'instanceGone', of: updates },
];

/** The kind of failure if ARM does not find the resource that a call names. A missing parent proves nothing. */
const missing: Readonly<Record<string, CloudFailureKind>> = {
  'VirtualMachineScaleSetVMs.Get': 'instanceGone',
  'VirtualMachineScaleSetVMs.Update': 'instanceGone',
  'VirtualMachines.Get': 'instanceGone',
  'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces': 'instanceGone',
  'Interfaces.Get': 'interfaceGone',
  'Interfaces.CreateOrUpdate': 'interfaceGone',
  'Subnets.Get': 'subnetGone',
};

const missingCodes: ReadonlySet<string> = new Set(['ResourceNotFound', 'NotFound', 'HTTP404']);

/** Codes for an unknown or expired identity: no role fixes that. */
const credentialTrouble: ReadonlyMap<string, NonNullable<CloudFailure['credentials']>> = new Map([
  ['AuthenticationFailed', 'invalid'],
  ['AuthenticationFailedInvalidHeader', 'invalid'],
  ['InvalidAuthenticationToken', 'invalid'],
  ['InvalidAuthenticationTokenTenant', 'invalid'],
  ['InvalidAuthenticationTokenAudience', 'invalid'],
  ['AuthenticationError', 'invalid'],
  ['AggregateAuthenticationError', 'invalid'],
  ['AuthenticationRequiredError', 'invalid'],
  ['CredentialUnavailableError', 'invalid'],
  ['ExpiredAuthenticationToken', 'expired'],
]);

/** Codes of the token service for an assertion whose time is wrong. */
const ofClock = /\bAADSTS(?:700024|500133)\b/;

/** The signer of the assertion depends on the kind of credentials. */
const setSignersClock =
  'set the clock of what signed the assertion: of the machine that Headwater runs on for a certificate, of the API server for a workload identity, whose token file may be old as well';

/** Codes about another resource that the call names: the call may succeed with a different one. */
const aboutSomethingElse: ReadonlySet<string> = new Set(['PublicIpPrefixOutOfIpAddressesForVMScaleSet']);

/** Codes for an identity or a subscription with which nothing can be done at all. */
const aboutEverything: ReadonlySet<string> = new Set([
  ...credentialTrouble.keys(),
  'SubscriptionNotFound',
  'InvalidSubscriptionId',
  'MissingSubscription',
  'ReadOnlyDisabledSubscription',
]);

/** Codes for the inside of the cloud, as an answer or as the end of an operation. */
const ofInside = /Internal(?:Server|Operation|Execution)?Error$/;

const unknownSubscription =
  "check that the subscription exists, and that Headwater's identity has a role in it";
const otherChange = 'wait until the change under way has ended; Headwater retries';

/** Remedies for codes whose kind does not tell the remedy. */
const remedies = mapOf<string>({
  SubscriptionNotFound: unknownSubscription,
  InvalidSubscriptionId: unknownSubscription,
  MissingSubscription: unknownSubscription,
  ReadOnlyDisabledSubscription: 'enable the subscription',
  RequestDisallowedByPolicy: 'change the policy, or exempt the nodes from it',
  ScopeLocked: 'remove the lock',
  DenyAssignmentAuthorizationFailed:
    'lift the deny assignment: on AKS, the lockdown of the node resource group',
  // Unless it names an action.
  LinkedAuthorizationFailed: "give Headwater's identity a role in the linked subscription",
  OperationNotAllowed: otherChange,
  AnotherOperationInProgress: otherChange,
  ModelIsChanging: otherChange,
  ChangeNotShown: 'look in the activity log of the VM for what ignores or undoes the change',
  TooManyConfigurations: 'use more nodes with fewer pods each, because this limit cannot be raised',
  NoRegisteredProviderFound: 'use a cloud and a region that have this API version, or one from 2024-07-01 on',
});

/** Changes of a whole instance. */
const ofInstance: ReadonlySet<string> = new Set([
  'VirtualMachineScaleSetVMs.Get',
  'VirtualMachineScaleSetVMs.Update',
]);

export function failureOf({ name }: Pick<CloudCall, 'name'>, error: CallError): CloudFailure {
  const kind = kindOf(name, error);
  const permission = deniedPermission(error);
  const about = subjectOf({ name, kind, code: error.code }, permission);
  const trouble = credentialTrouble.get(error.code);
  const isOfClock = trouble !== undefined && ofClock.test(error.message);
  const credentials = isOfClock ? 'clock' : trouble;
  const remedy = isOfClock ? setSignersClock : remedyFor(kind, error);
  return failureWith(
    { kind, action: name, ...sanitizedAnswer(error, plainMessage(error)) },
    { permission, about, credentials, remedy },
  );
}

function remedyFor(kind: CloudFailureKind, error: CallError): string | undefined {
  const isInside = ofInside.test(error.code) || (kind === 'unreachable' && isOfInside(error));
  if (isInside) return insideCloud;
  // If a code has several kinds, the remedy is for the first one.
  return kind === (kinds.get(error.code) ?? kind) ? remedies.get(error.code) : undefined;
}

/**
 * The message in a form that is the same for the same problem: ids in lower case, and without the VM or interface if the
 * problem concerns all of a place. From a denial on a linked resource, only the denied part stays.
 */
function plainMessage(error: CallError): string {
  const { code, message } = error;
  const denied = deniedLink(error);
  const text = (denied === undefined ? message : `it ${denied}`).replace(
    /\/subscriptions\/[^\s'",;()]+/gi,
    (id) => id.toLowerCase(),
  );
  if (!ofPlaces.has(code)) return text;
  return text.replace(/(\/(?:virtualmachines|networkinterfaces))\/[^\s'",]+/g, '$1/…');
}

/** Codes of denials that concern all VMs and interfaces of the same place. */
const ofPlaces: ReadonlySet<string> = new Set([
  'AuthorizationFailed',
  'LinkedAuthorizationFailed',
  'DenyAssignmentAuthorizationFailed',
]);

/**
 * The denied part of a message about linked resources, without the part before it, which says what is allowed. Undefined
 * if the message is about something else, such as a tenant.
 */
function deniedLink({ code, message }: CallError): string | undefined {
  return code === 'LinkedAuthorizationFailed'
    ? /does not have permission to .*/s.exec(message)?.[0]
    : undefined;
}

/** The actions that are missing. A call may link to several resources, and then the message has an action for each. */
function deniedPermission(error: CallError): string | undefined {
  const denied = error.code === 'AuthorizationFailed' ? error.message : deniedLink(error);
  const named = /perform actions?(?:\(s\))? '([A-Za-z0-9./*,\s-]+)'/.exec(denied ?? '')?.[1];
  const actions = named?.split(',').map((action) => action.trim());
  return actions && [...new Set(actions)].join(', ');
}

type Subject = NonNullable<CloudFailure['about']>;

/** By the resource that a permission is for. */
const subjectsByType: readonly { readonly type: RegExp; readonly about: Subject }[] = [
  { type: /\/virtualNetworks\/subnets\//i, about: 'subnet' },
  { type: /\/(networkSecurityGroups|applicationSecurityGroups)\//i, about: 'securityGroups' },
];

/** A refusal that names nothing else concerns the instance or the interface of the call. */
function subjectOf(
  { name, kind, code }: Pick<CloudFailure, 'kind' | 'code'> & { readonly name: string },
  permission = '',
): Subject | undefined {
  if (aboutEverything.has(code)) return 'action';
  const linked = subjectsByType.find(({ type }) => type.test(permission))?.about;
  if (linked !== undefined) return linked;
  if (kind === 'notAuthorized' || code === 'NotInScaleSet') return 'instance';
  return kind === 'conflict' && ofInstance.has(name) && !aboutSomethingElse.has(code)
    ? 'instance'
    : undefined;
}

/**
 * With these, the status of a throttled call says only that the call may be repeated: the interface, or what it refers to,
 * is changing. No limit is used up.
 */
const inTheWay: ReadonlySet<string> = new Set([
  'AnotherOperationInProgress',
  'ReferencedResourceNotProvisioned',
  'RetryableErrorDueToAnotherOperation',
]);

function kindOf(name: string, error: CallError): CloudFailureKind {
  const { code, message, status, result } = error;
  if (status === 429 && !inTheWay.has(code)) return 'throttled';
  if (credentialTrouble.has(code)) return 'notAuthorized';
  const isMeant = (each: MeaningByText): boolean =>
    (each.code ?? code) === code && each.text.test(message) && each.of?.includes(name) !== false;
  const known = byText.find(isMeant)?.kind ?? kinds.get(code);
  if (known !== undefined) return known;
  if (missingCodes.has(code)) return missing[name] ?? 'unknown';
  return result === 'refused' ? kindByForm(code, status) : 'unreachable';
}

function kindByForm(code: string, status: number | undefined): CloudFailureKind {
  return byForm.find(({ form }) => form.test(code))?.kind ?? byStatus[status ?? 0] ?? 'unknown';
}

/** Families of codes, each with many members. */
const byForm: readonly { readonly form: RegExp; readonly kind: CloudFailureKind }[] = [
  {
    form: /(?<!Time|Timeout|Deadline|Duration)(Exceed(s|ed)?(Limit|Quota)?|LimitReached)$/,
    kind: 'limitReached',
  },
  { form: /^(Invalid|Missing|Malformed|Unsupported)/, kind: 'invalid' },
];

const byStatus: Readonly<Record<number, CloudFailureKind>> = {
  400: 'invalid',
  401: 'notAuthorized',
  403: 'notAuthorized',
  409: 'conflict',
  412: 'conflict',
};
