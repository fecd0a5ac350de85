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

export interface Done<T> {
  readonly kind: 'ok';
  readonly value: T;
}

export interface Failed<E = IpamError> {
  readonly kind: 'failed';
  readonly error: E;
}

export type Outcome<T, E = IpamError> = Done<T> | Failed<E>;

export function ok<T>(value: T): Done<T> {
  return { kind: 'ok', value };
}

export function failed(kind: IpamErrorKind, message: string): Failed {
  return { kind: 'failed', error: { kind, message } };
}
