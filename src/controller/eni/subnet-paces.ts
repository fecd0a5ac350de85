// Follows how many addresses of each subnet are taken, by whomever, to say when it will be full.
import type { Subnet } from '../../providers/contract/infrastructure.ts';
import { daysLeft, type PaceSample, withSample } from '../../runtime/pace.ts';
import { subnetSize } from '../reporting/subnet-figures.ts';

export class SubnetPaces {
  #samples: ReadonlyMap<string, readonly PaceSample[]> = new Map();

  /** Call it after each complete read. `at` is monotonic. */
  sample(subnets: Iterable<Subnet>, at: number): void {
    this.#samples = new Map(
      Array.from(subnets, (subnet) => [
        subnet.id,
        withSample(this.#samples.get(subnet.id) ?? [], { at, held: takenOf(subnet) }),
      ]),
    );
  }

  /** Days until each subnet is full, as far as known. */
  daysLeft(subnets: Iterable<Subnet>, at: number): ReadonlyMap<string, number> {
    return new Map(
      Array.from(subnets).flatMap((subnet) => {
        const samples = this.#samples.get(subnet.id) ?? [];
        const days = daysLeft(samples, { at, held: takenOf(subnet) }, subnet.freeAddresses);
        return days === undefined ? [] : [[subnet.id, days] as const];
      }),
    );
  }
}

function takenOf(subnet: Subnet): number {
  return subnetSize(subnet) - subnet.freeAddresses;
}
