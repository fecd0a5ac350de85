// The agent's half of the release handshake, in status.ipam.release-ips: the controller marks an address, the agent answers
// whether it may go, the controller takes it from the cloud and from the pool, and the agent deletes the entry. Pure.
import { type ReleaseState, releaseStates } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isObject, type Json } from '../../runtime/json.ts';

export interface Whereabouts {
  /** In the pool of the CiliumNode. */
  readonly isOffered: boolean;
  readonly isTaken: boolean;
}

/** States in which no pod may get the address. */
const leaving: readonly ReleaseState[] = ['marked-for-release', 'ready-for-release', 'released'];

/** Whether an address of this state is in hand-over. What is no state counts as one: someone means to release it. */
export function isLeaving(state: Json | undefined): boolean {
  if (state === undefined || state === null) return false;
  return leaving.some((each) => each === state) || !releaseStates.some((each) => each === state);
}

/** The answer of the agent to each entry that awaits it; null deletes the entry. */
export function handshakeAnswers(
  shown: Json | undefined,
  whereabouts: (ip: string) => Whereabouts,
): ReadonlyMap<string, ReleaseState | null> {
  if (!isObject(shown)) return new Map();
  return new Map(
    Object.entries(shown).flatMap(([ip, state]): (readonly [string, ReleaseState | null])[] => {
      const answer = answerTo(state, whereabouts(ip));
      return answer === undefined ? [] : [[ip, answer]];
    }),
  );
}

function answerTo(state: Json, { isOffered, isTaken }: Whereabouts): ReleaseState | null | undefined {
  if (state === 'marked-for-release') return isOffered && !isTaken ? 'ready-for-release' : 'do-not-release';
  return state === 'released' && !isOffered ? null : undefined;
}
