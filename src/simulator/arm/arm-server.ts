// Serves Azure on sockets: Resource Manager and its authority over HTTPS with an authority of its own, and the metadata
// of a machine over plain HTTP, as on a link-local address.
import { certificateAuthority } from '../certificates.ts';
import { type HttpFront, type HttpOutcome, type HttpRequest, startHttpFront } from '../http-front.ts';
import type { ArmGateway } from './arm-gateway.ts';
import { answerArm, urlOf } from './arm-http.ts';
import { answerMetadata } from './metadata.ts';

export interface ArmServerOptions {
  readonly gateway: ArmGateway;
  /** 0 uses any free port. */
  readonly port?: number;
  readonly metadataPort?: number;
  /** The loopback address by default. */
  readonly host?: string;
}

export interface ArmServer {
  /** Resource Manager, and the host of the authority of tokens. */
  readonly url: string;
  readonly metadataUrl: string;
  /** The authority that clients have to trust, as PEM. */
  readonly ca: string;
  /** Ends every connection; resolves once the ports are free. */
  close(): Promise<void>;
}

/** Rejects with an error that names the port if it is in use. */
export async function startArmServer(options: ArmServerOptions): Promise<ArmServer> {
  const { gateway, port = 0, metadataPort = 0, host = '127.0.0.1' } = options;
  const authority = certificateAuthority('headwater simulated azure');
  const answer = (request: HttpRequest): Promise<HttpOutcome> => answerArm(request, gateway);
  const fronts: HttpFront[] = [];
  try {
    fronts.push(await startHttpFront({ answer, port, host, tls: authority.issue(host) }));
    const seen = (request: HttpRequest): Promise<HttpOutcome> =>
      Promise.resolve(answerMetadata(request, urlOf(request), gateway));
    fronts.push(await startHttpFront({ answer: seen, port: metadataPort, host }));
  } catch (error) {
    await closeAll(fronts);
    throw error;
  }
  const [arm, metadata] = fronts;
  return {
    url: arm?.url ?? '',
    metadataUrl: metadata?.url ?? '',
    ca: authority.cert,
    close: () => closeAll(fronts),
  };
}

async function closeAll(fronts: readonly HttpFront[]): Promise<void> {
  await Promise.all(fronts.map((front) => front.close()));
}
