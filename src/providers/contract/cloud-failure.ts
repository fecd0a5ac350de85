// Cloud failures as the core sees them: a small closed set of kinds. Only a cloud's errors.ts knows that cloud's own
// codes; they are carried along for people to read.

export type CloudFailureKind =
  /** Too many calls; the same call may succeed later. */
  | 'throttled'
  | 'subnetExhausted'
  /** The subnet no longer exists. */
  | 'subnetGone'
  /** Addresses are free, but no aligned block is. */
  | 'prefixSpaceFragmented'
  /** The limit of the instance type, the interface or the account is reached. */
  | 'limitReached'
  | 'instanceGone'
  | 'instanceNotRunning'
  | 'interfaceGone'
  /** The interface does not have what was to be released; nothing was released. */
  | 'notAssigned'
  /** The requested device index is in use. */
  | 'deviceIndexTaken'
  /** Just created and eventually consistent: retry, and never treat it as gone. */
  | 'notYetVisible'
  | 'notAuthorized'
  /** Something else is changing the same resource. */
  | 'conflict'
  /** The request itself is wrong; retrying is pointless. */
  | 'invalid'
  /** Not sent: our leadership ends too soon, or a watch is silent, to take anything away. */
  | 'fenced'
  /** Not sent: dry run, a pause, a conflicting writer or held withdrawals stop such calls. */
  | 'stopped'
  /** The cloud could not be reached or did not answer. */
  | 'unreachable'
  /** The answer could not be parsed. */
  | 'unreadable'
  | 'unknown';

export interface CloudFailure {
  readonly kind: CloudFailureKind;
  /** The failed call, by the cloud's name. */
  readonly action: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | undefined;
  /** The missing permission, as the cloud's policies name it. */
  readonly permission?: string;
  /** The policy that denies it, if allowing it to our role does not help: of the organization, or an explicit denial. */
  readonly deniedBy?: string;
  /** The identity that lacks it, to follow "allow … to"; absent for Headwater's role. */
  readonly lackedBy?: string;
  /** The part of the denial that only the cloud can decode. It differs in each answer. */
  readonly encodedDenial?: string;
  /** The subject of the answer, if it says so: the action in general, or one thing in the call. */
  readonly about?: 'action' | 'subnet' | 'securityGroups' | 'interface' | 'instance' | 'prefixes' | 'ipv6';
  /** The remedy, if the cloud's own code says more than the kind does. */
  readonly remedy?: string;
  /** The fault of our identity, or with the clock that dates its proof, if the cloud rejects that and not the request. */
  readonly credentials?: 'expired' | 'invalid' | 'clock';
}

/**
 * Maximum delay before a failed read is retried, in ms. An unreadable answer shows that the cloud is up, so retry soon:
 * nodes wait for a readable one.
 */
export function maxPause(error: unknown): number {
  return error instanceof CloudError && error.failure.kind === 'unreadable' ? 4000 : Infinity;
}

/** A failed read. Writes return their failures as values. */
export class CloudError extends Error {
  readonly failure: CloudFailure;

  constructor(failure: CloudFailure, options?: ErrorOptions) {
    super(`${failure.action} failed: ${failure.code}: ${failure.message}`, options);
    this.name = 'CloudError';
    this.failure = failure;
  }
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(action: string, problem: string): CloudError {
  return new CloudError({
    kind: 'unreadable',
    action,
    code: 'UnreadableAnswer',
    message: problem,
    requestId: undefined,
  });
}

/** Each page is valid, but the listing never ends. Reading on costs calls, so it backs off like any other failure. */
export function endless(action: string, message: string): CloudError {
  return new CloudError({ kind: 'unknown', action, code: 'EndlessPages', message, requestId: undefined });
}
