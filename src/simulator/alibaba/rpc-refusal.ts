// A refusal of Alibaba Cloud's RPC style: code, status and message.

/** Thrown if a request is refused; nothing has changed then. */
export class RpcRefusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'RpcRefusal';
    this.code = code;
    this.status = status;
  }
}

export function missingParameter(name: string): RpcRefusal {
  return new RpcRefusal(`Missing${name}`, `${name} is mandatory for this action.`);
}

export function invalidParameter(name: string): RpcRefusal {
  return new RpcRefusal(`Invalid${name}`, `The specified parameter ${name} is not valid.`);
}

export function unsupportedParameter(name: string): RpcRefusal {
  return new RpcRefusal('UnsupportedParameter', `The parameter ${name} is not supported.`);
}

/** Parameters that exclude each other, or that come without each other. */
export function conflictingParameters(message: string): RpcRefusal {
  return new RpcRefusal('InvalidParameter.Conflict', message);
}

export function notFound(code: string, message: string): RpcRefusal {
  return new RpcRefusal(code, message, 404);
}

export function invalidState(what: string): RpcRefusal {
  return new RpcRefusal(
    'InvalidOperation.InvalidEniState',
    `The operation is not allowed in the current state of the network interface: ${what}.`,
  );
}
