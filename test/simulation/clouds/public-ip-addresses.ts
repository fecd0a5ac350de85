// The public addresses that VMs of a simulated Azure have out of prefixes. What a VM has at rest stays its own, unless a
// client takes it that is no controller.
import type { ArmCloud } from '../../../src/simulator/arm/arm-cloud.ts';
import { keyOf } from '../../../src/simulator/arm/resource-path.ts';
import { parseIpv4Block, sizeOf } from '../../../src/simulator/cloud/ipv4.ts';
import type { PublicAddressesOf } from './cloud-rig.ts';

export class PublicIpAddresses implements PublicAddressesOf {
  readonly #cloud: ArmCloud;
  readonly #onMisdeed: (text: string) => void;
  /** By VM: what it had at rest. */
  readonly #had = new Map<string, string>();

  constructor(cloud: ArmCloud, onMisdeed: (text: string) => void) {
    this.#cloud = cloud;
    this.#onMisdeed = onMisdeed;
  }

  of(instanceId: string): string {
    return this.#addressesOf(instanceId).join(', ');
  }

  /** Only VMs of Uniform scale sets get one. */
  isLeftFor(instanceId: string): boolean {
    const { machines, publicIpPrefixes, publicAddresses } = this.#cloud;
    const isOfSet = machines.current.get(instanceId)?.instanceId !== undefined;
    const sizes = [...publicIpPrefixes.values()].map(({ block }) => sizeOf(parseIpv4Block(block) ?? never));
    return isOfSet && publicAddresses.size < sizes.reduce((sum, size) => sum + size, 0);
  }

  /** A change of this VM begins, `isOurs` if by a controller. Others may take its address, without If-Match also late. */
  lookAt(path: string, isOurs: boolean): void {
    const id = keyOf(path);
    if (this.#cloud.machines.current.get(id)?.operationId !== undefined) return;
    const [before, now] = [this.#had.get(id), this.of(id)];
    if (before !== undefined && before !== now) this.#onMisdeed(`${path} lost its public address ${before}`);
    if (!isOurs) this.#had.delete(id);
    else if (now !== '') this.#had.set(id, now);
  }

  #addressesOf(instanceId: string): readonly string[] {
    const own = [...this.#cloud.publicAddresses.values()].filter(({ id }) =>
      id.startsWith(`${instanceId}/networkinterfaces/`),
    );
    return own.map(({ address }) => address);
  }
}

const never = { first: 0, length: 32 };
