// A refusal of Azure Resource Manager: code, status, message, and headers such as Retry-After.

export interface RefusalDetail {
  readonly code: string;
  readonly message: string;
  readonly target?: string;
}

/** Thrown if a request is refused; nothing has changed then. */
export class ArmRefusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly RefusalDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    message: string,
    status: number,
    more: {
      readonly details?: readonly RefusalDetail[];
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'ArmRefusal';
    this.code = code;
    this.status = status;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

export function badRequest(code: string, message: string): ArmRefusal {
  return new ArmRefusal(code, message, 400);
}

export function conflict(code: string, message: string): ArmRefusal {
  return new ArmRefusal(code, message, 409);
}

export function notFound(code: string, message: string): ArmRefusal {
  return new ArmRefusal(code, message, 404);
}
