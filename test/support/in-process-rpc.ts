// The port to ECS and VPC that calls the gateway of the model directly: no socket, no signature, and therefore virtual
// time. Requests and answers pass the vendor's models.
import { jsonIn, UnreadableAnswer } from '../../src/network/bounded-body.ts';
import { hasNeverLeft } from '../../src/network/departing-request.ts';
import { callErrorOf } from '../../src/providers/gate/cloud-call.ts';
import { outputOf, parametersOf, productOf } from '../../src/providers/alibaba/models-api.ts';
import { understood } from '../../src/providers/alibaba/rpc-answer.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../src/providers/alibaba/rpc-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import type { AlibabaGateway } from '../../src/simulator/alibaba/alibaba-gateway.ts';
import { answerCaller } from '../../src/simulator/alibaba/alibaba-http.ts';
import type { Credential } from '../../src/simulator/alibaba/rpc-signature.ts';
import type { HttpAnswer } from '../../src/simulator/http-front.ts';

/** Receives each request once it is answered, the code of its result, and the output if it succeeded. */
export type OnRpcCall = (action: RpcAction, input: unknown, result: string, output?: object) => void;

export class InProcessRpc implements RpcApi {
  readonly #gateway: AlibabaGateway;
  readonly #onCall: OnRpcCall;
  readonly #caller: Credential;

  /** `user`: whose key it uses; by default the first one of the topology. */
  constructor(gateway: AlibabaGateway, onCall: OnRpcCall = () => undefined, user?: string) {
    this.#gateway = gateway;
    this.#onCall = onCall;
    this.#caller = credentialOf(gateway, user);
  }

  async send<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    { signal, onSend }: Sending,
  ): Promise<RpcOutput<A>> {
    onSend();
    try {
      const output = await this.#answer(action, input, signal);
      this.#onCall(action, input, 'OK', output);
      return output;
    } catch (error) {
      const failure = callErrorOf(error, !hasNeverLeft(error));
      this.#onCall(action, input, failure.code);
      throw failure;
    }
  }

  async #answer<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    signal: AbortSignal,
  ): Promise<RpcOutput<A>> {
    const gateway = this.#gateway;
    const parameters = new Map(Object.entries(parametersOf(action, input, gateway.network.region)));
    const { version } = productOf(action);
    const outcome = await Promise.race([
      answerCaller(
        { action, version, parameters, caller: this.#caller },
        { gateway, now: 0, requestId: 'request' },
      ),
      givenUp(signal),
    ]);
    if (outcome.kind === 'hang') return givenUp(signal);
    if (outcome.kind === 'answer') return outputOf(action, bodyOf(outcome));
    throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  }
}

/** The key of a user; by default the first one of the topology. */
export function credentialOf(gateway: AlibabaGateway, user?: string): Credential {
  const credential = gateway.credentials.find((each) => user === undefined || each.user === user);
  if (credential === undefined) throw new Error(`the topology has no credential of ${user ?? 'anybody'}`);
  return credential;
}

function bodyOf({ status, headers, body, cutAt }: HttpAnswer): unknown {
  if (cutAt !== undefined) throw new UnreadableAnswer('the answer is cut off');
  return understood({ statusCode: status, headers }, jsonIn(body));
}

function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abandon = (): void => reject(Object.assign(new Error('aborted'), { code: 'AbortError' }));
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}
