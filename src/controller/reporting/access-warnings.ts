// Logs missing Kubernetes permissions at startup, one line per verb, or one line if no role is bound. Without
// this, a standby would notice missing Lease access only when the leader is gone.
import type { Options } from '../../config/option-table.ts';
import { missingAccess } from '../../kubernetes/access/access-review.ts';
import { type AccessScope, neededAccess } from '../../kubernetes/access/needed-access.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../observability/logger.ts';

export interface AccessWarningDeps {
  readonly options: Pick<Options, 'k8sNamespace' | 'leaderElection' | 'leaderElectionLeaseName'>;
  readonly scope: AccessScope;
  readonly kubernetes: KubernetesTransport;
  readonly log: Logger;
  readonly clock: Clock;
}

const withoutRoles =
  'no permissions in this cluster: bind the roles of the chart to the service account (rbac.create)';

/** Pause between checks of the Lease permission, in ms. */
const interval = 30_000;

/**
 * Resolves once everything is checked and the Lease is accessible, or `signal` is aborted. `onLease` receives
 * why the Lease is not accessible, and undefined as soon as it is.
 */
export async function warnOfMissingAccess(
  { options, scope, kubernetes, log, clock }: AccessWarningDeps,
  onLease: (problem: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const lease = { namespace: options.k8sNamespace, name: options.leaderElectionLeaseName };
  const needed = neededAccess(options.leaderElection ? lease : undefined, scope);
  try {
    let missing = await missingAccess(kubernetes, needed, signal);
    if (missing.length === needed.length) log.warn(withoutRoles);
    else
      for (const each of missing)
        log.warn(`may not ${each.verb} ${each.resource}: a role must grant it`, { ...each });
    for (;;) {
      missing = missing.filter(({ resource, verb }) => resource === 'leases' && verb !== 'create');
      const [first] = missing;
      onLease(
        first && `may not ${first.verb} the Lease ${lease.name} in ${lease.namespace}: ${first.without}`,
      );
      if (first === undefined) return;
      await sleep(clock, interval, signal);
      missing = await missingAccess(kubernetes, missing, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
