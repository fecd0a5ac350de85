// Finds the API server for the commands that need one.
import type { Options } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { loadClusterAccess } from '../kubernetes/auth/load-cluster-access.ts';
import type { ClusterAccess } from '../kubernetes/transport/cluster-access.ts';
import { KubernetesError } from '../kubernetes/transport/kubernetes-error.ts';
import { type Proxies, proxyFor } from '../network/proxies.ts';
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

function warnOfUnverified({ server, unverified: why }: ClusterAccess, log: Pick<Logger, 'warn'>): void {
  if (why !== undefined)
    log.warn('the certificate of the API server is not verified', { server: server.origin, why });
  if (thisProcess.environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    log.warn('the certificate of the cloud is not verified', { why: 'NODE_TLS_REJECT_UNAUTHORIZED is 0' });
}
