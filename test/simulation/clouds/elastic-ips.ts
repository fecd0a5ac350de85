// The Elastic IPs that instances of a simulated EC2 have.
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import type { PublicAddressesOf } from './cloud-rig.ts';

export class ElasticIps implements PublicAddressesOf {
  readonly #network: Pick<CloudNetwork, 'interfaces' | 'all'>;

  constructor(network: Pick<CloudNetwork, 'interfaces' | 'all'>) {
    this.#network = network;
  }

  of(instanceId: string): string {
    const { interfaces } = this.#network;
    const own = [...this.#network.all('publicAddresses').values()].filter(
      ({ association }) => interfaces.get(association?.interfaceId ?? '')?.instanceId === instanceId,
    );
    return own.map(({ address }) => address).join(', ');
  }

  isLeftFor(): boolean {
    return [...this.#network.all('publicAddresses').values()].some(
      ({ association }) => association === undefined,
    );
  }
}
