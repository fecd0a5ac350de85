// The EC2 port over the wire: the real SDK and the HTTP interface of the model.
import { AwsApi } from '../../src/providers/aws/aws-api.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import type { Ec2Gateway } from '../../src/simulator/ec2/ec2-gateway.ts';
import { answerEc2 } from '../../src/simulator/ec2/ec2-http.ts';
import type { OnCall } from '../support/in-process-ec2.ts';
import { SdkCalls } from './sdk-calls.ts';

/** A request of the SDK. */
interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class WireEc2 implements Ec2Api {
  readonly #gateway: Ec2Gateway;
  readonly #api: AwsApi;
  readonly #calls: SdkCalls;
  readonly #onCall: OnCall;
  #requests = 0;

  constructor(gateway: Ec2Gateway, clock: VirtualClock, onCall: OnCall) {
    this.#gateway = gateway;
    this.#calls = new SdkCalls(clock);
    this.#onCall = onCall;
    const [credential] = gateway.credentials;
    process.env['AWS_ACCESS_KEY_ID'] = credential?.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = credential?.secretAccessKey;
    const handler = {
      handle: async (request: WireRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) => ({
        response: await this.#calls.exchange(abortSignal, () => this.#answer(request)),
      }),
    };
    this.#api = new AwsApi({
      region: gateway.network.region,
      endpoint: 'http://ec2.simulation',
      http: {
        connections: 1000,
        clock: systemClock,
        connectionTimeout: 1000,
        proxyFor: () => undefined,
        onRoute: () => undefined,
      },
      handler,
    });
  }

  send<A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending): Promise<Ec2Output<A>> {
    return this.#calls.pass(
      sending,
      (observed) => this.#api.send(action, input, observed),
      (result, output) => this.#onCall(action, input, result, output),
    );
  }

  #answer({ method, path, headers, body }: WireRequest): ReturnType<typeof answerEc2> {
    return answerEc2(
      { method, url: path, headers, body: textOf(body) },
      { gateway: this.#gateway, now: systemClock.wall(), requestId: `request-${this.#requests++}` },
    );
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}
