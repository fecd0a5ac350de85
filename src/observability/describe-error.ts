// Describes an error as plain data for logs and answers: its message, codes and causes.

import { sanitizedText } from '../network/untrusted-text.ts';

export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  /** Stable code of ours, of the cloud or of the operating system, if any. */
  readonly code?: string;
  /** Kind from a closed set; every expected error has one. */
  readonly kind?: string;
  readonly details?: unknown;
  /** Only for errors without a kind: those are bugs, and the stack locates them. */
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  /** Members of an AggregateError. */
  readonly errors?: readonly ErrorDescription[];
}

/** A chain of causes may be cyclic; deeper causes are dropped. */
const deepestCause = 8;

/** Describes any thrown value, error or not. */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: sanitizedText(String(error)) };
  const { code, kind, details } = error as Partial<Record<'code' | 'kind' | 'details', unknown>>;

  return {
    type: error.name,
    message: sanitizedText(error.message),
    ...(isCode(code) && { code: sanitizedText(String(code), 100) }),
    ...(typeof kind === 'string' && { kind }),
    ...(details !== undefined && { details }),
    ...(depth === 0 && kind === undefined && error.stack !== undefined && { stack: framesOf(error) }),
    ...(depth < deepestCause && describeCauses(error, depth)),
  };
}

function describeCauses(error: Error, depth: number): Pick<ErrorDescription, 'cause' | 'errors'> {
  return {
    ...(error.cause !== undefined && { cause: describeError(error.cause, depth + 1) }),
    ...(error instanceof AggregateError && {
      errors: error.errors.map((each: unknown) => describeError(each, depth + 1)),
    }),
  };
}

/** Bounds the message, which precedes the frames. */
function framesOf({ name, message, stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return [`${name}: ${sanitizedText(message)}`, ...frames.slice(0, 30)].join('\n');
}

function isCode(code: unknown): code is string | number {
  return typeof code === 'string' || typeof code === 'number';
}
