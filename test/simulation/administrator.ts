// Who looks after the cluster: reads why withdrawals are held and, once all faults are over for a while, lets them go. Only
// people can tell what somebody else took away from what is hidden.
import type { Stage } from './harness.ts';

/** From the end of the last fault, in ms: a hold without a lasting reason has ended by then. */
const patience = 5 * 60_000;

/** `since`: when the last fault ended. */
export function letWithdrawalsGo(stage: Stage, since: number): void {
  if (stage.now - since < patience) return;
  const held = stage.leader?.controller.status().withdrawalsHeld;
  if (held?.token === undefined || held.token === stage.allowedWithdrawals) return;
  if (!held.instances.some((instanceId) => isShort(stage, instanceId)))
    stage.judge.note('false-alarm', `withdrawals are held and nothing is missing: ${held.why}`);
  stage.allowedWithdrawals = held.token;
  stage.history.write(`withdrawals are let go: ${held.token}`);
}

/** Whether it is gone, or somebody else took something away from it. */
function isShort({ cluster, judge }: Stage, instanceId: string): boolean {
  return (
    judge.hasLost(instanceId) || !cluster.workload.views.some(({ facts }) => facts.instanceId === instanceId)
  );
}
