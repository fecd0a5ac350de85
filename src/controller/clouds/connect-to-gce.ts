// Connects to Compute Engine: chooses endpoint and proxy.
import { proxyFor, proxyInWords } from '../../network/proxies.ts';
import { ComputeApi } from '../../providers/gce/compute-api.ts';
import type { CloudConnection } from './cloud.ts';

/** Timeout for opening a connection to the cloud, in ms. */
const connectionTimeout = 5000;

export function connectToGce({ options, outbound, log, clock }: CloudConnection): ComputeApi {
  const { gceApiEndpoint: endpoint, gceMetadataEndpoint: metadataEndpoint } = options;
  log.info('using Compute Engine', { endpoint });
  if (endpoint.startsWith('http:'))
    log.warn('the token for Compute Engine is sent without encryption: its endpoint is plain HTTP', {
      endpoint,
    });
  return new ComputeApi({
    endpoint,
    metadataEndpoint,
    connections: options.parallelAllocWorkers,
    connectionTimeout,
    clock,
    proxyFor: (target) => proxyFor(target, outbound.proxies),
    onRoute: (host, proxy) =>
      log.info('connecting to Compute Engine', {
        host,
        proxy: proxy === undefined ? 'none' : proxyInWords(proxy),
      }),
  });
}
