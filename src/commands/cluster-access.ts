// Finds the API server for the commands that need one.
import type { Options } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { loadClusterAccess } from '../kubernetes/auth/load-cluster-access.ts';
import type { ClusterAccess } from '../kubernetes/transport/cluster-access.ts';
import { KubernetesError } from '../kubernetes/transport/kubernetes-error.ts';
import { type Proxies, proxyFor } from '../network/proxies.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';

/** Rejects with a NotStartable if there is none. */
export async function findCluster(
  { k8sKubeconfigPath, kubeconfig: sameFile, k8sApiServer: apiServer }: Options,
  proxies: Proxies,
): Promise<ClusterAccess> {
  try {
    return await loadClusterAccess({
      kubeconfig: k8sKubeconfigPath ?? sameFile,
      apiServer,
      environment: thisProcess.environment,
      clock,
      proxyFor: (server) => proxyFor(server, proxies),
    });
  } catch (error) {
    throw error instanceof KubernetesError ? new NotStartable(error.message, { cause: error }) : error;
  }
}
