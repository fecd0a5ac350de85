// The ARM port over the wire: the real SDK and the HTTP interface of the model. Its tokens are issued without the SDK of
// identities, which keeps time by itself.
import { AzureApi } from '../../src/providers/azure/azure-api.ts';
import { azureClouds } from '../../src/providers/azure/azure-clouds.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from '../../src/providers/azure/arm-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import type { ArmGateway } from '../../src/simulator/arm/arm-gateway.ts';
import { answerArm } from '../../src/simulator/arm/arm-http.ts';
import { type OnArmCall, tokenOf } from '../support/in-process-arm.ts';
import { SdkCalls, senderTo } from './sdk-calls.ts';

export class WireArm implements ArmApi {
  readonly #api: AzureApi;
  readonly #calls: SdkCalls;
  readonly #onCall: OnArmCall;

  /** `name`: the name of the principal. */
  constructor(gateway: ArmGateway, clock: VirtualClock, onCall: OnArmCall, name: string) {
    this.#calls = new SdkCalls(clock);
    this.#onCall = onCall;
    const token = { token: tokenOf(gateway, name), expiresOnTimestamp: Number.MAX_SAFE_INTEGER };
    this.#api = new AzureApi({
      ...senderTo(this.#calls, (request) => answerArm(request, gateway)),
      cloud: azureClouds.AzurePublicCloud,
      endpoint: undefined,
      identity: {
        authority: undefined,
        isAuthorityKnown: true,
        managedIdentity: undefined,
      },
      credential: { getToken: () => Promise.resolve(token) },
    });
  }

  send(request: ArmRequest, sending: Sending): Promise<ArmAnswer> {
    return this.#calls.pass(
      sending,
      (observed) => this.#api.send(request, observed),
      (result, answer) => this.#onCall(request, result, answer),
    );
  }
}
