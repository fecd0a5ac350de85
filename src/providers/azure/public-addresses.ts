// The public addresses that Headwater or cilium-operator gave to VMs of scale sets. An interface shows only the id of its
// own, so the address is read once. Addresses that others gave are not looked up.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { parseAddress } from '../contract/ipv4.ts';
import type { Clock } from '../../runtime/clock.ts';
import { text } from './arm-api.ts';
import type { ArmClient } from './arm-client.ts';
import { instanceKey, nameOfInterface, parsePublicAddressId } from './ids.ts';
import { managedPublicAddress } from './instance-model.ts';
import type { ShownInterface } from './network-interface.ts';
import { publicAddress } from './requests.ts';

/** How long an address that could not be read is not asked for again, in ms. */
const pause = 300_000;

interface Known {
  /** In lower case. */
  readonly instanceId: string;
  readonly publicAddressId: string;
  /** Empty if it could not be read. */
  readonly address: string;
  /** In monotonic ms. */
  readonly readAt: number;
}

export class PublicAddresses {
  readonly #client: ArmClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By interface. */
  readonly #known = new Map<string, Known>();

  constructor(client: ArmClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The interfaces with their public addresses, as far as they can be read. */
  complete(shown: readonly ShownInterface[], context: CallContext): Promise<readonly ShownInterface[]> {
    return Promise.all(shown.map((item) => this.#completed(item, context)));
  }

  /** Forgets all other instances. They are named in lower case, as by agents. */
  keepOnly(instanceIds: ReadonlySet<string>): void {
    for (const [id, { instanceId }] of this.#known) if (!instanceIds.has(instanceId)) this.#known.delete(id);
  }

  async #completed(item: ShownInterface, context: CallContext): Promise<ShownInterface> {
    const { id, read } = item;
    if ('problem' in read) return item;
    const { publicAddressId } = read;
    // A later one may have the same id and another address.
    if (publicAddressId === undefined) this.#known.delete(id);
    if (publicAddressId === undefined) return item;
    if (nameOfInterface(publicAddressId).toLowerCase() !== managedPublicAddress) return item;
    const address = await this.#addressOf(item, publicAddressId, context);
    return { ...item, read: { ...read, interface: { ...read.interface, publicAddress: address } } };
  }

  async #addressOf(
    { id, instanceId }: ShownInterface,
    publicAddressId: string,
    context: CallContext,
  ): Promise<string> {
    const known = this.#known.get(id);
    const isKnown = known?.publicAddressId === publicAddressId;
    if (isKnown && (known.address !== '' || this.#clock.monotonic() < known.readAt + pause))
      return known.address;
    const readAt = this.#clock.monotonic();
    const address = await this.#read(publicAddressId, context);
    this.#known.set(id, { instanceId: instanceKey(instanceId), publicAddressId, address, readAt });
    return address;
  }

  /** An interface is served without it, so a failure is not one of the read that found it. */
  async #read(publicAddressId: string, context: CallContext): Promise<string> {
    const id = parsePublicAddressId(publicAddressId);
    if (id === undefined) return '';
    try {
      const { answer } = await this.#client.readOne(publicAddress(id), context);
      const address = text(answer.body, 'properties', 'ipAddress') ?? '';
      return parseAddress(address) === undefined ? '' : address;
    } catch (error) {
      if (error instanceof CloudError) return '';
      throw error;
    }
  }
}
