// Serves Alibaba Cloud on sockets: the RPC APIs of ECS and VPC at one address, and the metadata of an instance at
// another.
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { adminPrefix } from '../admin-endpoint.ts';
import { type HttpFront, type HttpOutcome, type HttpRequest, startHttpFront } from '../http-front.ts';
import { answerAdmin } from './admin.ts';
import type { AlibabaGateway } from './alibaba-gateway.ts';
import { answerRpc } from './alibaba-http.ts';
import { answerMetadata } from './metadata.ts';

export interface AlibabaServerOptions {
  readonly gateway: AlibabaGateway;
  /** The clients' clock, for signatures; the cloud's own may run faster. */
  readonly clock: Clock;
  /** 0 uses any free port. */
  readonly port: number;
  readonly metadataPort?: number;
  /** The loopback address by default. */
  readonly host?: string;
}

export interface AlibabaServer {
  /** The endpoint of ECS and VPC. */
  readonly url: string;
  readonly metadataUrl: string;
  /** Ends every connection; resolves once the ports are free. */
  close(): Promise<void>;
}

/** Rejects with an error that names the port if it is in use. */
export async function startAlibabaServer(options: AlibabaServerOptions): Promise<AlibabaServer> {
  const { gateway, clock, port, metadataPort = 0, host = '127.0.0.1' } = options;
  const requestIds = new Random(`request-ids/${gateway.network.account}`);
  const answer = (request: HttpRequest): Promise<HttpOutcome> =>
    request.url.startsWith(adminPrefix)
      ? Promise.resolve(answerAdmin(request, gateway))
      : answerRpc(request, { gateway, now: clock.wall(), requestId: requestIds.uuid().toUpperCase() });
  const apis = await startHttpFront({ answer, port, host });
  const seen = (request: HttpRequest): Promise<HttpOutcome> =>
    Promise.resolve(answerMetadata(request, gateway, clock.wall()));
  let metadata: HttpFront;
  try {
    metadata = await startHttpFront({ answer: seen, port: metadataPort, host });
  } catch (error) {
    await apis.close();
    throw error;
  }
  return {
    url: apis.url,
    metadataUrl: metadata.url,
    close: async () => {
      await Promise.all([apis.close(), metadata.close()]);
    },
  };
}
