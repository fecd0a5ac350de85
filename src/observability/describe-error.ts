// An error as plain data, for a line of log or an answer: what it is, its codes, and what caused it.

export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  /** Stable code of ours, of the cloud or of the operating system, where the error has one. */
  readonly code?: string;
  /** Kind from a closed set: errors that were foreseen have one. */
  readonly kind?: string;
  readonly details?: unknown;
  /** Of errors without a kind only: those are bugs, and the place is what is asked for. */
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  /** What an AggregateError holds. */
  readonly errors?: readonly ErrorDescription[];
}

/** A chain may be a ring; nobody reads further than this. */
const deepestCause = 8;

/** Describes anything that was thrown, be it an error or not. */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code, kind, details } = error as Partial<Record<'code' | 'kind' | 'details', unknown>>;

  return {
    type: error.name,
    message: error.message,
    ...(isCode(code) && { code: String(code) }),
    ...(typeof kind === 'string' && { kind }),
    ...(details !== undefined && { details }),
    ...(depth === 0 && kind === undefined && error.stack !== undefined && { stack: error.stack }),
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

function isCode(code: unknown): code is string | number {
  return typeof code === 'string' || typeof code === 'number';
}
