// Decides whether anything may be taken from a node's instance: only when a Node names the instance as its
// own. A CiliumNode alone could name another node's instance and agree to give up its addresses.
import type { Activity, MutationPermission, StopReason } from '../../providers/gate/mutation-permission.ts';

export interface TakeAwayPermission {
  /** Why the activity must not start now; undefined when it may. */
  refusal(activity: Activity): StopReason | 'unverified' | undefined;
}

export function onlyIfVerified(
  permission: Pick<MutationPermission, 'refusal'>,
  isVerified: () => boolean,
): TakeAwayPermission {
  return {
    refusal: (activity) =>
      activity === 'takeAway' && !isVerified() ? 'unverified' : permission.refusal(activity),
  };
}
