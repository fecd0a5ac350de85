// The agent's half of the release handshake under the CRD allocator. Pure. An operator marks an address, the
// agent answers, the operator unassigns it and reports that, the agent deletes the entry.
import type { AddressPool } from './address-pool.ts';
import { type JsonObject, textMapAt } from './json.ts';

/** `status.ipam.release-ips`: the state of each address being released. */
export type ReleaseStates = ReadonlyMap<string, string>;

export interface HandshakeAnswer {
  readonly states: ReleaseStates;
  /** Addresses whose entry this agent changed or deleted. */
  readonly changed: readonly string[];
}

/** States in which an address must not be assigned to a pod. */
const offLimits: ReadonlySet<string> = new Set(['marked-for-release', 'ready-for-release', 'released']);

export function releaseStatesOf(node: JsonObject): ReleaseStates {
  return textMapAt(node, 'status', 'ipam', 'release-ips');
}

export function mayBeAllocated(address: string, states: ReleaseStates): boolean {
  return !offLimits.has(states.get(address) ?? '');
}

/** The agent's answer to `states`. Without a pool it answers nothing. */
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
