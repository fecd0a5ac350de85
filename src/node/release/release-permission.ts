// Decides whether anything may be taken from a node's instance: only when a Node names the instance as its
// own. A CiliumNode alone could name another node's instance and agree to give up its addresses.
import type { Activity, MutationPermission, PauseReason } from '../../providers/gate/mutation-permission.ts';

export interface ReleasePermission {
  /** Why the activity must not start now; undefined when it may. */
  refusal(activity: Activity): PauseReason | 'unverified' | undefined;
}

export function onlyIfVerified(
  permission: Pick<MutationPermission, 'refusal'>,
  isVerified: () => boolean,
): ReleasePermission {
  return {
    refusal: (activity) =>
      activity === 'release' && !isVerified() ? 'unverified' : permission.refusal(activity),
  };
}
