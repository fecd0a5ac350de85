// The EC2 port that calls the gateway of the model directly: no socket, no SDK, and therefore virtual time.
import { CallError, type Sending } from '../../src/providers/gate/cloud-call.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import type { Ec2Gateway } from '../../src/simulator/ec2/ec2-gateway.ts';
import { Ec2Refusal } from '../../src/simulator/ec2/ec2-refusal.ts';
import { AnswerGarbled, AnswerLost } from '../../src/simulator/cloud/exchange.ts';

/** The identity of a controller in EC2. */
export const controllerArn = 'arn:aws:iam::123456789012:user/headwater';

/** Receives the result of each call, and the output if it succeeded. */
export type OnCall = (action: Ec2Action, input: unknown, result: string, output?: object) => void;

export class InProcessEc2 implements Ec2Api {
  readonly #gateway: Ec2Gateway;
  readonly #arn: string;
  readonly #onCall: OnCall;

  constructor(gateway: Ec2Gateway, onCall: OnCall, arn = controllerArn) {
    this.#gateway = gateway;
    this.#onCall = onCall;
    this.#arn = arn;
  }

  async send<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    { signal, onSend }: Sending,
  ): Promise<Ec2Output<A>> {
    onSend();
    try {
      const output = (await this.#answer(action, input, signal)) as Ec2Output<A>;
      this.#onCall(action, input, 'OK', output);
      return output;
    } catch (error) {
      const failure = callErrorOf(error);
      this.#onCall(action, input, failure.code);
      throw failure;
    }
  }

  async #answer(action: Ec2Action, input: object, signal: AbortSignal): Promise<object> {
    const caller = { arn: this.#arn };
    try {
      return await Promise.race([this.#gateway.call(action, { ...input }, caller), givenUp(signal)]);
    } catch (error) {
      // A hanging connection stays silent until the caller gives up.
      if (error instanceof AnswerLost && error.connection === 'hang') return givenUp(signal);
      throw error;
    }
  }
}

function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abandon = (): void =>
      reject(new CallError({ result: 'noAnswer', code: 'AbortError', message: 'aborted' }));
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}

function callErrorOf(error: unknown): CallError {
  if (error instanceof CallError) return error;
  if (error instanceof Ec2Refusal) {
    const { code, message, status } = error;
    const result = status >= 500 && code !== 'RequestLimitExceeded' ? 'noAnswer' : 'refused';
    return new CallError({ result, code, message, status }, { cause: error });
  }
  if (error instanceof AnswerGarbled) {
    const [code, status] = error.form === 'html502' ? ['Unknown', 502] : ['UnreadableAnswer', 200];
    return new CallError({ result: 'noAnswer', code, message: error.message, status }, { cause: error });
  }
  if (error instanceof AnswerLost)
    return new CallError({ result: 'noAnswer', code: 'ECONNRESET', message: 'no answer' }, { cause: error });
  throw error;
}
