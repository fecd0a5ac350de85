// The port to ECS and VPC over the wire: the vendor's models, credentials and signature, and the HTTP interface of the
// model.
import { AlibabaApi } from '../../src/providers/alibaba/alibaba-api.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../src/providers/alibaba/rpc-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import type { AlibabaGateway } from '../../src/simulator/alibaba/alibaba-gateway.ts';
import { answerRpc } from '../../src/simulator/alibaba/alibaba-http.ts';
import type { Credential } from '../../src/simulator/alibaba/rpc-signature.ts';
import { credentialOf, type OnRpcCall } from '../support/in-process-rpc.ts';
import { SdkCalls, senderTo } from './sdk-calls.ts';

export class WireRpc implements RpcApi {
  readonly #api: AlibabaApi;
  readonly #calls: SdkCalls;
  readonly #onCall: OnRpcCall;
  readonly #credential: Credential;

  /** `user`: whose key it uses. */
  constructor(gateway: AlibabaGateway, clock: VirtualClock, onCall: OnRpcCall, user: string) {
    this.#calls = new SdkCalls(clock);
    this.#onCall = onCall;
    this.#credential = credentialOf(gateway, user);
    let requests = 0;
    this.#api = new AlibabaApi({
      ...senderTo(this.#calls, (request) =>
        answerRpc(request, { gateway, now: systemClock.wall(), requestId: `request-${requests++}` }),
      ),
      regionId: gateway.network.region,
      endpoints: { ecs: 'http://ecs.simulation', vpc: 'http://ecs.simulation' },
      metadataEndpoint: 'http://metadata.simulation',
      // So that nothing but the environment is asked for credentials.
      environment: { ALIBABA_CLOUD_ACCESS_KEY_ID: this.#credential.accessKeyId },
    });
  }

  send<A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending): Promise<RpcOutput<A>> {
    return this.#calls.pass(
      sending,
      (observed) => {
        // The vendor's provider of credentials reads them anew for each call, before anything else can run.
        process.env['ALIBABA_CLOUD_ACCESS_KEY_ID'] = this.#credential.accessKeyId;
        process.env['ALIBABA_CLOUD_ACCESS_KEY_SECRET'] = this.#credential.accessKeySecret;
        return this.#api.send(action, input, observed);
      },
      (result, output) => this.#onCall(action, input, result, output),
    );
  }
}
