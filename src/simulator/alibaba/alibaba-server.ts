// Serves the RPC APIs of Alibaba Cloud on a socket: ECS and VPC at one address.
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { adminPrefix } from '../admin-endpoint.ts';
import { type HttpFront, startHttpFront } from '../http-front.ts';
import { answerAdmin } from './admin.ts';
import type { AlibabaGateway } from './alibaba-gateway.ts';
import { answerRpc } from './alibaba-http.ts';

export interface AlibabaServerOptions {
  readonly gateway: AlibabaGateway;
  /** The clients' clock, for signatures; the cloud's own may run faster. */
  readonly clock: Clock;
  /** 0 uses any free port. */
  readonly port: number;
  /** The loopback address by default. */
  readonly host?: string;
}

/** Rejects with an error that names the port if it is in use. */
export function startAlibabaServer({ gateway, clock, port, host }: AlibabaServerOptions): Promise<HttpFront> {
  const requestIds = new Random(`request-ids/${gateway.network.account}`);
  return startHttpFront({
    port,
    ...(host !== undefined && { host }),
    answer: (request) =>
      request.url.startsWith(adminPrefix)
        ? Promise.resolve(answerAdmin(request, gateway))
        : answerRpc(request, {
            gateway,
            now: clock.wall(),
            requestId: requestIds.uuid().toUpperCase(),
          }),
  });
}
