// Picks a pod's address under the CRD allocator: any allowed one, at random.
import type { Random } from '../../runtime/random.ts';
import type { AddressPool } from './address-pool.ts';
import { mayBeAllocated, type ReleaseStates } from './release-handshake.ts';

/** Undefined if none is left: each is allocated, in the release handshake, or reserved for an owner. */
export function pickAddress(
  pool: AddressPool,
  states: ReleaseStates,
  isAllocated: (address: string) => boolean,
  random: Random,
): string | undefined {
  const candidates: string[] = [];
  for (const [address, entry] of pool) {
    if (entry.owner === '' && !isAllocated(address) && mayBeAllocated(address, states))
      candidates.push(address);
  }
  return candidates.length === 0 ? undefined : random.pick(candidates);
}
