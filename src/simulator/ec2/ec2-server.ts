// Serves EC2 on a socket.
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { adminPrefix } from '../admin-endpoint.ts';
import { type HttpFront, startHttpFront } from '../http-front.ts';
import { answerAdmin } from './admin.ts';
import type { Ec2Gateway } from './ec2-gateway.ts';
import { answerEc2 } from './ec2-http.ts';

export interface Ec2ServerOptions {
  readonly gateway: Ec2Gateway;
  /** The clients' clock, for signatures; the cloud's own may run faster. */
  readonly clock: Clock;
  /** 0 uses any free port. */
  readonly port: number;
  /** The loopback address by default. */
  readonly host?: string;
}

/** Rejects with an error that names the port if it is in use. */
export function startEc2Server({ gateway, clock, port, host }: Ec2ServerOptions): Promise<HttpFront> {
  const requestIds = new Random(`request-ids/${gateway.network.account}`);
  return startHttpFront({
    port,
    ...(host !== undefined && { host }),
    answer: (request) =>
      request.url.startsWith(adminPrefix)
        ? Promise.resolve(answerAdmin(request, gateway))
        : answerEc2(request, { gateway, now: clock.wall(), requestId: requestIds.uuid() }),
  });
}
