// The ARM port that calls the gateway of the model directly: no socket, no SDK, and therefore virtual time.
import { UnreadableAnswer } from '../../src/network/bounded-body.ts';
import { BodyReader } from '../../src/providers/azure/arm-answer.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from '../../src/providers/azure/arm-api.ts';
import { hasNeverLeft } from '../../src/network/departing-request.ts';
import { callErrorOf } from '../../src/providers/azure/call-error.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import { answerArm } from '../../src/simulator/arm/arm-http.ts';
import type { ArmGateway } from '../../src/simulator/arm/arm-gateway.ts';
import type { HttpAnswer } from '../../src/simulator/http-front.ts';

/** Receives each request once it is answered, and the code of its result. */
export type OnArmCall = (request: ArmRequest, result: string, answer?: ArmAnswer) => void;

export class InProcessArm implements ArmApi {
  readonly #gateway: ArmGateway;
  readonly #token: string;
  readonly #onCall: OnArmCall;

  /** `name`: the name of the principal; the first of the topology by default. */
  constructor(gateway: ArmGateway, onCall: OnArmCall = () => undefined, name?: string) {
    this.#token = tokenOf(gateway, name);
    this.#gateway = gateway;
    this.#onCall = onCall;
  }

  async send(request: ArmRequest, { signal, onSend }: Sending): Promise<ArmAnswer> {
    onSend();
    try {
      const outcome = await this.#ask(request, signal);
      const answer = understood(request, outcome);
      this.#onCall(request, 'OK', answer);
      return answer;
    } catch (error) {
      const failure = callErrorOf(error, !hasNeverLeft(error));
      this.#onCall(request, failure.code);
      throw failure;
    }
  }

  async #ask({ method, url, body, ifMatch }: ArmRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const path = url.startsWith('/') ? url : url.slice(new URL(url).origin.length);
    const outcome = await Promise.race([
      answerArm(
        {
          method,
          url: path,
          headers: {
            host: 'management.azure.com',
            authorization: `Bearer ${this.#token}`,
            ...(ifMatch !== undefined && { 'if-match': ifMatch }),
          },
          body: body === undefined ? '' : JSON.stringify(body),
        },
        this.#gateway,
      ),
      givenUp(signal),
    ]);
    if (outcome.kind === 'hang') return givenUp(signal);
    if (outcome.kind === 'answer') return outcome;
    throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  }
}

/** A token of a principal that outlives every test; of the first one of the topology by default. */
export function tokenOf({ tokens }: ArmGateway, name?: string): string {
  const principal = tokens.principals.find((each) => name === undefined || each.name === name);
  if (principal === undefined) throw new Error('the topology has no such principal');
  return tokens.issue(principal, 'https://management.azure.com', 1e9).token;
}

function understood(request: ArmRequest, { status, headers, body, cutAt }: HttpAnswer): ArmAnswer {
  if (cutAt !== undefined) throw new UnreadableAnswer('the answer is cut off');
  const reader = new BodyReader(request, { status, headers });
  reader.take(Buffer.from(body));
  return reader.end();
}

function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abandon = (): void => reject(Object.assign(new Error('aborted'), { code: 'AbortError' }));
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}
