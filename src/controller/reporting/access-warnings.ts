// Asks at startup which Kubernetes permissions are missing, and logs one line per verb, or one line if no role is bound. Without
// this, a standby would notice missing Lease access only when the leader is gone, and a dry run missing writes only once it is off.
import type { Options } from '../../config/option-table.ts';
import { missingAccess } from '../../kubernetes/access/access-review.ts';
import { type AccessScope, type NeededAccess, neededAccess } from '../../kubernetes/access/needed-access.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { untilAborted } from '../../runtime/race-abort.ts';
import type { Logger } from '../../observability/logger.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';

export interface AccessWarningDeps {
  readonly options: Pick<
    Options,
    'k8sNamespace' | 'leaderElection' | 'leaderElectionLeaseName' | 'nodeSelector'
  >;
  readonly kubernetes: KubernetesTransport;
  readonly log: Logger;
  readonly clock: Clock;
  readonly permission: Pick<MutationPermission, 'pauses'>;
}

const withoutRoles =
  'no permissions in this cluster: bind the roles of the chart to the service account (rbac.create)';

/** Pause between checks of what is missing, in ms. */
const interval = 30_000;

export class KubernetesAccess {
  readonly #deps: AccessWarningDeps;
  #missing: readonly NeededAccess[] | undefined;

  constructor(deps: AccessWarningDeps) {
    this.#deps = deps;
  }

  /** Permissions that the API server denies, as of the last look; undefined before the first one. It looks again in a dry run. */
  get missing(): readonly NeededAccess[] | undefined {
    return this.#missing;
  }

  /** Why the Lease is not accessible; undefined if it is. */
  get leaseProblem(): string | undefined {
    const { k8sNamespace: namespace, leaderElectionLeaseName: name } = this.#deps.options;
    const first = this.#missing?.find(isOfLease);
    return first && `may not ${first.verb} the Lease ${name} in ${namespace}: ${first.without}`;
  }

  /** Resolves once nothing is missing, or `signal` is aborted. */
  async run(scope: AccessScope, signal: AbortSignal): Promise<void> {
    await untilAborted(signal, () => this.#follow(scope, signal));
  }

  async #follow(scope: AccessScope, signal: AbortSignal): Promise<void> {
    const { options, kubernetes, clock, permission } = this.#deps;
    const lease = {
      namespace: options.k8sNamespace,
      name: options.leaderElectionLeaseName,
      isShared: options.nodeSelector !== undefined,
    };
    const needed = neededAccess(options.leaderElection ? lease : undefined, scope);
    let missing = await missingAccess(kubernetes, needed, signal);
    this.#warn(missing, needed.length);
    for (;;) {
      this.#missing = missing;
      if (missing.length === 0) return;
      await sleep(clock, interval, signal);
      const asked = permission.pauses.dryRun ? missing : missing.filter(isOfLease);
      const denied = await missingAccess(kubernetes, asked, signal);
      missing = missing.filter((each) => !asked.includes(each) || denied.includes(each));
    }
  }

  #warn(missing: readonly NeededAccess[], needed: number): void {
    const { log } = this.#deps;
    if (missing.length === needed) log.warn(withoutRoles);
    else
      for (const each of missing)
        log.warn(`may not ${each.verb} ${each.resource}: a role must grant it`, { ...each });
  }
}

/** Creation aside, because the Lease may exist, and the Leases of others. */
function isOfLease({ resource, verb }: NeededAccess): boolean {
  return resource === 'leases' && verb !== 'create' && verb !== 'list';
}
