// Says at the start which verbs the roles lack, a line each: what is missing is known before it is needed.
import type { Options } from '../config/option-table.ts';
import { missingAccess } from '../kubernetes/access-review.ts';
import { neededAccess } from '../kubernetes/needed-access.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import type { Logger } from '../observability/logger.ts';

export interface AccessWarningDeps {
  readonly options: Pick<Options, 'k8sNamespace' | 'leaderElection' | 'leaderElectionLeaseName'>;
  readonly kubernetes: KubernetesTransport;
  readonly log: Logger;
}

/** Resolves once everything is asked or `signal` is aborted. */
export async function warnOfMissingAccess(
  { options, kubernetes, log }: AccessWarningDeps,
  signal: AbortSignal,
): Promise<void> {
  const lease = { namespace: options.k8sNamespace, name: options.leaderElectionLeaseName };
  const needed = neededAccess(options.leaderElection ? lease : undefined);
  const missing = await missingAccess(kubernetes, needed, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return [];
  });
  for (const { verb, resource, ...rest } of missing) {
    log.warn(`may not ${verb} ${resource}: a role has to grant it`, { verb, resource, ...rest });
  }
}
