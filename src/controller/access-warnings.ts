// Says at the start which verbs the roles lack, a line each: what is missing is known before it is needed. A process that may not
// have the Lease finds that out otherwise only once nobody else has it.
import type { Options } from '../config/option-table.ts';
import { missingAccess } from '../kubernetes/access-review.ts';
import { neededAccess } from '../kubernetes/needed-access.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Logger } from '../observability/logger.ts';

export interface AccessWarningDeps {
  readonly options: Pick<Options, 'k8sNamespace' | 'leaderElection' | 'leaderElectionLeaseName'>;
  readonly kubernetes: KubernetesTransport;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Between two looks whether the Lease may be had by now, in ms. */
const interval = 30_000;

/**
 * Resolves once everything is asked and the Lease may be had, or `signal` is aborted. `onLease`: told why it may not be had, and
 * with undefined as soon as it may.
 */
export async function warnOfMissingAccess(
  { options, kubernetes, log, clock }: AccessWarningDeps,
  onLease: (problem: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const lease = { namespace: options.k8sNamespace, name: options.leaderElectionLeaseName };
  const needed = neededAccess(options.leaderElection ? lease : undefined);
  try {
    let missing = await missingAccess(kubernetes, needed, signal);
    for (const { verb, resource, ...rest } of missing) {
      log.warn(`may not ${verb} ${resource}: a role has to grant it`, { verb, resource, ...rest });
    }
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
