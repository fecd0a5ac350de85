// Another client takes one address of each block of a subnet.
import { nothing } from '../../src/simulator/cloud/claims.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { formatIpv4, parseIpv4Block, sizeOf } from '../../src/simulator/cloud/ipv4.ts';
import { createInterface, deleteInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { Harness } from './harness.ts';

/** Takes one address of each whole block but `whole` of them; the result frees them. */
export function fragment({ cluster }: Harness, subnetId: string, whole: number): () => void {
  const { network } = cluster;
  const block = parseIpv4Block(network.find('subnets', subnetId).block);
  if (block === undefined) throw new RangeError(`${subnetId} has no block`);
  const space = network.space(subnetId);
  const firsts = Array.from({ length: sizeOf(block) / 16 }, (_, index) => block.first + index * 16);
  const blocks = firsts.filter((first) => space.obstacleToPrefix({ first, length: 28 }) === undefined);
  const addresses = blocks.slice(whole).map((first) => formatIpv4(first + 7));
  const made: string[] = [];
  while (addresses.length > 0) {
    const claim = { ...nothing, addresses: addresses.splice(0, 50) };
    made.push(createInterface(network, { ...plainInterface(subnetId, []), claim }).id);
  }
  return () => made.splice(0).forEach((id) => deleteInterface(network, id));
}
