// What can go wrong at a cloud, as the core sees it: a small closed set of kinds. A cloud's own codes are known in that
// cloud's errors.ts alone, and travel along for people to read.

export type CloudFailureKind =
  /** Too many calls; the same call may succeed later. */
  | 'throttled'
  /** The subnet has no address left. */
  | 'subnetExhausted'
  /** The subnet does not exist any more. */
  | 'subnetGone'
  /** Addresses are free, but no aligned block is. */
  | 'prefixSpaceFragmented'
  /** The instance or the interface holds as much as its type allows, or the account does. */
  | 'limitReached'
  | 'instanceGone'
  | 'instanceNotRunning'
  | 'interfaceGone'
  /** The interface does not have what should be taken from it; nothing was taken. */
  | 'notAssigned'
  /** The device index asked for is taken. */
  | 'deviceIndexTaken'
  /** Just made and not everywhere visible: to be tried again, never to be taken for gone. */
  | 'notYetVisible'
  | 'notAuthorized'
  /** Something else changes the same thing. */
  | 'conflict'
  /** The request itself is wrong; repeating it is pointless. */
  | 'invalid'
  /** Not sent: our leadership ends too soon to take anything away. */
  | 'fenced'
  /** Not sent: a dry run, a pause or a foreign writer keeps such calls from being begun. */
  | 'stopped'
  /** The cloud could not be reached, or gave no answer. */
  | 'unreachable'
  /** The answer could not be understood. */
  | 'unreadable'
  | 'unknown';

export interface CloudFailure {
  readonly kind: CloudFailureKind;
  /** The call that failed, by the cloud's name for it. */
  readonly action: string;
  /** The cloud's own code. */
  readonly code: string;
  readonly message: string;
  readonly requestId: string | undefined;
  /** What the cloud did not permit, by the name that its policies have for it. */
  readonly permission?: string;
}

/** A failed read. Writes report their failures as values. */
export class CloudError extends Error {
  readonly failure: CloudFailure;

  constructor(failure: CloudFailure, options?: ErrorOptions) {
    super(`${failure.action} failed: ${failure.code}: ${failure.message}`, options);
    this.name = 'CloudError';
    this.failure = failure;
  }
}
