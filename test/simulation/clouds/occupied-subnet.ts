// Another client takes the free addresses of a subnet by interfaces of its own.
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { createInterface, deleteInterface } from '../../../src/simulator/cloud/network-interfaces.ts';

/** Takes all addresses but `left`; the result frees them. */
export function occupy(network: CloudNetwork, subnetId: string, left: number): () => void {
  const free = (): number => network.find('subnets', subnetId).available - left;
  const made: string[] = [];
  while (free() > 0) {
    const claim = { ...nothing, count: Math.min(free(), 50) - 1 };
    made.push(createInterface(network, { ...plainInterface(subnetId, []), claim }).id);
  }
  return () => made.splice(0).forEach((id) => deleteInterface(network, id));
}
