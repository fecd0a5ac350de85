// The models that the command simulate serves, and why it cannot.

export interface Served {
  /** Lines to print about it. */
  readonly lines: readonly string[];
  readonly close: () => Promise<void>;
}

/** The request is invalid: one line per problem. */
export class Misuse extends Error {
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'Misuse';
    this.problems = problems;
  }
}

/** The error names the unavailable port; this adds the remedy. */
export function askForAnother(flag: string): (error: unknown) => never {
  return (error) => {
    const advice = isOfHost(error) ? '--host to an address of this machine' : flag;
    throw new Error(`${messageOf(error)}; set ${advice}`, { cause: error });
  };
}

function isOfHost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code) || isOfHost(error.cause);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
