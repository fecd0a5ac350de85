// Serves the model of Compute Engine, and the metadata of an instance, on one socket.
import { type HttpFront, startHttpFront } from '../http-front.ts';
import type { GceModel } from './gce-model.ts';

export interface GceServer extends Pick<HttpFront, 'close'> {
  /** For --gce-api-endpoint. */
  readonly endpoint: string;
  /** For --gce-metadata-endpoint. */
  readonly metadataEndpoint: string;
}

export async function startGceServer(model: GceModel): Promise<GceServer> {
  const front = await startHttpFront({
    answer: (request) => Promise.resolve(model.answer(request)),
    port: 0,
  });
  return { endpoint: `${front.url}/compute/v1`, metadataEndpoint: front.url, close: () => front.close() };
}
