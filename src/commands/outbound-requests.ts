// Prepares the process for requests to clouds, before any client is made.
import http from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Outbound } from '../config/outbound.ts';
import { haveHome } from '../config/process-environment.ts';
import type { Logger } from '../observability/logger.ts';

export function prepareOutbound(
  { extraAuthorities }: Pick<Outbound, 'extraAuthorities'>,
  log: Pick<Logger, 'info'>,
): void {
  useNoSharedProxy();
  haveHome();
  addAuthorities(extraAuthorities, log);
}

/**
 * NODE_USE_ENV_PROXY=1 gives the shared agent a proxy. Here only the SDK's requests to the instance metadata service use
 * that agent, and their credentials must not pass through a proxy.
 */
function useNoSharedProxy(): void {
  http.globalAgent = new http.Agent({ keepAlive: true });
}

/** For the whole process: every client without authorities of its own uses the default store, which Node.js builds once. */
function addAuthorities(authorities: readonly string[], log: Pick<Logger, 'info'>): void {
  if (authorities.length === 0) return;
  setDefaultCACertificates([...getCACertificates('default'), ...authorities]);
  log.info('trusting additional certificate authorities', { count: authorities.length });
}
