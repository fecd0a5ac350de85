// The agent's half of giving an address back under the CRD allocator, as a pure function. An operator marks an address,
// the agent answers, the operator unassigns it and says so, the agent forgets it.
import type { AddressPool } from './address-pool.ts';
import { type JsonObject, textMapAt } from './json.ts';

/** `status.ipam.release-ips`: the state of each address that is on its way out. */
export type ReleaseStates = ReadonlyMap<string, string>;

export interface HandshakeAnswer {
  readonly states: ReleaseStates;
  /** Addresses whose entry this agent changed or deleted. */
  readonly changed: readonly string[];
}

/** States of an address that must not be given to a pod. */
const offLimits: ReadonlySet<string> = new Set(['marked-for-release', 'ready-for-release', 'released']);

export function releaseStatesOf(node: JsonObject): ReleaseStates {
  return textMapAt(node, 'status', 'ipam', 'release-ips');
}

export function mayBeAllocated(address: string, states: ReleaseStates): boolean {
  return !offLimits.has(states.get(address) ?? '');
}

/** What the agent makes of `states`. Without a pool it answers nothing. */
export function answerHandshake(
  states: ReleaseStates,
  pool: AddressPool | undefined,
  isAllocated: (address: string) => boolean,
): HandshakeAnswer {
  if (pool === undefined) return { states, changed: [] };

  const answered = new Map(states);
  const changed: string[] = [];
  for (const [address, state] of states) {
    const answer = answerTo(state, pool.has(address), isAllocated(address));
    if (answer === state) continue;
    changed.push(address);
    if (answer === undefined) answered.delete(address);
    else answered.set(address, answer);
  }
  return { states: answered, changed };
}

/** The state after this agent's turn; undefined deletes the entry. */
function answerTo(state: string, inPool: boolean, allocated: boolean): string | undefined {
  if (state === 'released') return inPool ? state : undefined;
  if (state !== 'marked-for-release') return state;
  return inPool && !allocated ? 'ready-for-release' : 'do-not-release';
}
