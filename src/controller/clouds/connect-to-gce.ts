// Connects to Compute Engine: chooses endpoint and proxy.
import { ComputeApi } from '../../providers/gce/compute-api.ts';
import { type CloudConnection, wayOut } from './cloud.ts';

export function connectToGce(connection: CloudConnection): ComputeApi {
  const { options, log } = connection;
  const { gceApiEndpoint: endpoint, gceMetadataEndpoint: metadataEndpoint } = options;
  log.info('using Compute Engine', { endpoint });
  if (endpoint.startsWith('http:'))
    log.warn('the token for Compute Engine is sent without encryption: its endpoint is plain HTTP', {
      endpoint,
    });
  return new ComputeApi({
    endpoint,
    metadataEndpoint,
    http: wayOut(connection, 'Compute Engine'),
  });
}
