// Failures as CNI reports them: https://www.cni.dev/docs/spec/#error
import type { Failed, Outcome } from '../ipam/ipam-error.ts';

export const cniCode = {
  incompatibleVersion: 1,
  unknownContainer: 3,
  environment: 4,
  io: 5,
  decoding: 6,
  config: 7,
  tryAgain: 11,
  notAvailable: 50,
  /** Ours: the attachment holds other addresses than prevResult. */
  differs: 101,
  /** Ours: a fixed address cannot be had. */
  fixedAddress: 102,
} as const;

export type CniCode = (typeof cniCode)[keyof typeof cniCode];

export interface CniError {
  readonly code: CniCode;
  readonly message: string;
}

export type CniOutcome<T> = Outcome<T, CniError>;

export function cniFailed(code: CniCode, message: string): Failed<CniError> {
  return { kind: 'failed', error: { code, message } };
}

export function cniErrorText(version: string, { code, message }: CniError): string {
  return `${JSON.stringify({ cniVersion: version, code, msg: message })}\n`;
}
