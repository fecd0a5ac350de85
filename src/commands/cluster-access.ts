// Finds the API server for the commands that need one.
import type { Options } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { loadClusterAccess } from '../kubernetes/auth/load-cluster-access.ts';
import type { ClusterAccess } from '../kubernetes/transport/cluster-access.ts';
import { UndiciTransport } from '../kubernetes/transport/undici-transport.ts';
import { KubernetesError } from '../kubernetes/transport/kubernetes-error.ts';
import { type Proxies, proxyFor } from '../network/proxies.ts';
import type { Outbound } from '../config/outbound.ts';
import type { Logger } from '../observability/logger.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';

type ClusterOptions = Pick<Options, 'k8sKubeconfigPath' | 'kubeconfig' | 'k8sApiServer'>;

/** Rejects with a NotStartable if there is none. Warns if nothing proves who answers. */
export async function findCluster(
  { k8sKubeconfigPath, kubeconfig: sameFile, k8sApiServer: apiServer }: ClusterOptions,
  { proxies, log }: { readonly proxies: Proxies; readonly log: Pick<Logger, 'warn'> },
): Promise<ClusterAccess> {
  try {
    const access = await loadClusterAccess({
      kubeconfig: k8sKubeconfigPath ?? sameFile,
      apiServer,
      environment: thisProcess.environment,
      clock,
      proxyFor: (server) => proxyFor(server, proxies),
    });
    warnOfUnverified(access, log);
    return access;
  } catch (error) {
    throw error instanceof KubernetesError ? new NotStartable(error.message, { cause: error }) : error;
  }
}

/** The API server for a command that only asks, or why there is no way to it. */
export async function reachCluster(
  { options, outbound }: { readonly options: ClusterOptions; readonly outbound: Outbound },
  warn: (message: string) => void,
): Promise<{ readonly server: string; readonly transport: UndiciTransport } | string> {
  try {
    const access = await findCluster(options, { ...outbound, log: { warn } });
    return { server: access.server.origin, transport: new UndiciTransport({ access, clock }) };
  } catch (error) {
    if (error instanceof NotStartable) return error.message;
    throw error;
  }
}

function warnOfUnverified({ server, unverified: why }: ClusterAccess, log: Pick<Logger, 'warn'>): void {
  if (why !== undefined)
    log.warn('the certificate of the API server is not verified', { server: server.origin, why });
  if (thisProcess.environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    log.warn('the certificate of the cloud is not verified', { why: 'NODE_TLS_REJECT_UNAUTHORIZED is 0' });
}
