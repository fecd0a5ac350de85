// Why an address cannot be given, kept or released. The kinds are a closed set: what answers a request maps each of them.

export type IpamErrorKind =
  /** No address is free. */
  | 'exhausted'
  /** The address belongs to another owner, or to an attachment. */
  | 'inUse'
  | 'outOfRange'
  | 'excluded'
  | 'unknownPool'
  /** The pool may get addresses later. */
  | 'poolNotReady'
  | 'familyDisabled'
  | 'notAllocated'
  | 'timerExists'
  | 'timerMissing'
  | 'uuidMismatch'
  /** The record cannot be written, so nothing has changed. */
  | 'notRecorded';

export interface IpamError {
  readonly kind: IpamErrorKind;
  readonly message: string;
}

export type Outcome<T> = { readonly kind: 'ok'; readonly value: T } | Failed;

export function ok<T>(value: T): Outcome<T> {
  return { kind: 'ok', value };
}

export interface Failed {
  readonly kind: 'failed';
  readonly error: IpamError;
}

export function failed(kind: IpamErrorKind, message: string): Failed {
  return { kind: 'failed', error: { kind, message } };
}
