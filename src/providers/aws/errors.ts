// The one place that knows EC2's error codes (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
import type { CloudFailure, CloudFailureKind } from '../cloud-failure.ts';
import type { Ec2Action, Ec2CallError } from './ec2-api.ts';

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
  // Of addresses that a listing showed a moment ago.
  'InvalidAllocationID.NotFound': 'conflict',
  UnauthorizedOperation: 'notAuthorized',
  AuthFailure: 'notAuthorized',
  OptInRequired: 'notAuthorized',
  AccessDenied: 'notAuthorized',
  AccessDeniedException: 'notAuthorized',
  Blocked: 'notAuthorized',
  InvalidClientTokenId: 'notAuthorized',
  UnrecognizedClientException: 'notAuthorized',
  MissingAuthenticationToken: 'notAuthorized',
  SignatureDoesNotMatch: 'notAuthorized',
  RequestExpired: 'notAuthorized',
  ExpiredToken: 'notAuthorized',
  ExpiredTokenException: 'notAuthorized',
  CredentialsProviderError: 'notAuthorized',
  TokenProviderError: 'notAuthorized',
  Fenced: 'fenced',
  Stopped: 'stopped',
};

/** Codes that mean several things, told apart by their text. */
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

/** What differs each time would let the same refusal never read the same. */
const encodedPart = /\s*Encoded authorization failure message: \S+/;
const freshId = /\b(eni|eni-attach)-[0-9a-f]{8,17}\b/g;

export function failureOf(action: Ec2Action, error: Ec2CallError): CloudFailure {
  const permission = deniedPermission(action, error);
  return {
    kind: kindOf(action, error),
    action,
    code: error.code,
    message: error.message.replace(encodedPart, '').replace(freshId, '$1-…'),
    requestId: error.requestId,
    ...(permission !== undefined && { permission }),
  };
}

/** Codes by which an identity that is known is not permitted something; others say that it is not known. */
const denials: ReadonlySet<string> = new Set([
  'UnauthorizedOperation',
  'AccessDenied',
  'AccessDeniedException',
]);

/** Not always the call's own: its tags need another, and so does a role on the way to EC2. */
function deniedPermission(action: Ec2Action, { code, message }: Ec2CallError): string | undefined {
  if (!denials.has(code)) return undefined;
  const [, named] = /is not authorized to perform: ([a-z0-9-]+:[A-Za-z0-9]+)/.exec(message) ?? [];
  return named ?? (code === 'UnauthorizedOperation' ? `ec2:${action}` : undefined);
}

function kindOf(action: Ec2Action, error: Ec2CallError): CloudFailureKind {
  const known =
    byText.find(({ code, text }) => code === error.code && text.test(error.message))?.kind ??
    kinds[error.code];
  // EC2 may not know an interface for some seconds after creating it, and we attach and modify only what we just made.
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
