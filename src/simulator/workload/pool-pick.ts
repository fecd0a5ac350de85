// Which address of the pool a pod gets under the CRD allocator: any that is allowed, at random.
import type { Random } from '../../scheduling/random.ts';
import type { AddressPool } from './address-pool.ts';
import { mayBeAllocated, type ReleaseStates } from './release-handshake.ts';

/** Undefined when nothing is left: everything is allocated, in the release handshake, or set aside for an owner. */
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
