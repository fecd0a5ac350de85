// Errors of Compute Engine, as its answers show them.
export class GceRefusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function notFound(what: string): GceRefusal {
  return new GceRefusal(404, 'notFound', `The resource '${what}' was not found`);
}

export function invalidField(field: string, value: string): GceRefusal {
  return new GceRefusal(400, 'invalid', `Invalid value for field '${field}': '${value}'.`);
}
