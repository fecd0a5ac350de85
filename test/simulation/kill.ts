// A controller that dies at a certain call.
import type { CallInProgress } from './ports.ts';
import type { FaultPlan } from './scenario.ts';
import type { Stage } from './harness.ts';

/** `isMeant`: which of the calls that the plan fits; all if not given. */
export function kill(
  stage: Stage,
  { call, phase, nth, restartAfter, handshake }: Omit<Extract<FaultPlan, { readonly kind: 'kill' }>, 'kind'>,
  isMeant: (progress: CallInProgress) => boolean = () => true,
): void {
  const stateOf = ({ input }: CallInProgress): string => stage.handshakeOf(stage.nodeOfCall(input));
  stage.tripwires.arm({
    call,
    phase,
    nth,
    fits: (progress) => isMeant(progress) && (handshake === undefined || stateOf(progress) === handshake),
    act: (progress) => {
      const { process } = progress;
      const replica = stage.replicaOf(process);
      if (replica === undefined) return;
      stage.coverage.hit('kill', call, phase);
      stage.coverage.hit('kill in handshake', call, phase, stateOf(progress));
      stage.history.write(`${process.identity} is killed`);
      stage.retire(replica, restartAfter);
    },
  });
}
