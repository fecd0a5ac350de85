// The administrator of the simulated cluster. Once all faults have been over for a while, it approves held withdrawals:
// only a person can distinguish an external deletion from a read that hides something.
import type { Harness } from './harness.ts';

/** From the end of the last fault, in ms. A hold without a lasting cause has ended by then. */
const approvalDelay = 5 * 60_000;

/** `since`: the end of the last fault. */
export function approveWithdrawals(harness: Harness, since: number): void {
  if (harness.now - since < approvalDelay) return;
  const held = harness.leader?.controller.status().withdrawalsHeld;
  if (held?.token === undefined || held.token === harness.allowedWithdrawals) return;
  if (!held.instances.some((instanceId) => isMissingSomething(harness, instanceId)))
    harness.checker.report('false-alarm', `withdrawals are held although nothing is missing: ${held.why}`);
  harness.allowedWithdrawals = held.token;
  harness.history.write(`withdrawals are let go: ${held.token}`);
}

/**
 * Whether an external change removed something from the instance, or its node is gone too. An instance that is gone while its
 * node stays misses nothing: the cloud says that it is gone.
 */
function isMissingSomething({ cluster, checker }: Harness, instanceId: string): boolean {
  return (
    checker.hasExternalLoss(instanceId) ||
    !cluster.workload.views.some(({ facts }) => facts.instanceId === instanceId)
  );
}
