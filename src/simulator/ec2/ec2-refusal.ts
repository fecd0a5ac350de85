// A refusal of EC2: code, status and message.

/** Thrown if EC2 refuses a request; nothing has changed then. */
export class Ec2Refusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'Ec2Refusal';
    this.code = code;
    this.status = status;
  }
}

export function invalidParameterValue(message: string): Ec2Refusal {
  return new Ec2Refusal('InvalidParameterValue', message);
}

export function invalidParameterCombination(message: string): Ec2Refusal {
  return new Ec2Refusal('InvalidParameterCombination', message);
}

export function missingParameter(name: string): Ec2Refusal {
  return new Ec2Refusal('MissingParameter', `The request must contain the parameter ${name}`);
}

/** EC2's refusal of a client token reused for another request. */
export function mismatch(): Ec2Refusal {
  return new Ec2Refusal(
    'IdempotentParameterMismatch',
    'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
  );
}
