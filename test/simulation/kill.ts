// Kills a controller at a given call.
import type { CallInProgress } from './process.ts';
import type { FaultPlan } from './scenario.ts';
import type { Harness } from './harness.ts';

/** `matches`: which calls of the plan apply; all by default. */
export function kill(
  harness: Harness,
  { call, phase, nth, restartAfter, handshake }: Omit<Extract<FaultPlan, { readonly kind: 'kill' }>, 'kind'>,
  matches: (progress: CallInProgress) => boolean = () => true,
): void {
  const stateOf = ({ input }: CallInProgress): string => harness.handshakeOf(harness.nodeOfCall(input));
  harness.failpoints.arm({
    call,
    phase,
    nth,
    matches: (progress) => matches(progress) && (handshake === undefined || stateOf(progress) === handshake),
    run: (progress) => {
      const { process } = progress;
      const replica = harness.replicaOf(process);
      if (replica === undefined) return;
      harness.coverage.hit('kill', call, phase);
      harness.coverage.hit('kill in handshake', call, phase, stateOf(progress));
      harness.history.write(`${process.identity} is killed`);
      harness.retire(replica, restartAfter);
    },
  });
}
