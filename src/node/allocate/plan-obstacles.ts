// What prevents a node from being satisfied, whatever is tried.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { InstanceView, UnreadableInterface } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';

export type Obstacle =
  | { readonly kind: 'noInterfaceSlots'; readonly interfaces: number }
  /** Subnets match, but none has room for the smallest interface that serves pods. */
  | { readonly kind: 'subnetsExhausted'; readonly subnetIds: readonly string[] }
  /** The others have no room, and these cannot be read, or no longer. */
  | { readonly kind: 'interfacesUnreadable'; readonly interfaces: readonly UnreadableInterface[] }
  /** Only these could take more, and the cloud could not carry out their last change. */
  | { readonly kind: 'interfacesFailed'; readonly interfaceIds: readonly string[] }
  /** `wanted` describes what was requested. */
  | { readonly kind: 'noSubnetMatches'; readonly wanted: string }
  /** Tags were requested and no group of the network carries them. */
  | { readonly kind: 'noSecurityGroupMatches'; readonly wanted: string }
  /** The groups of the primary interface apply, but it is unknown. */
  | { readonly kind: 'securityGroupsUnknown' }
  /** Data that the choice depends on cannot be read. */
  | { readonly kind: 'networkUnreadable'; readonly failure: CloudFailure };

/** What prevents a node from getting the IPv6 prefix that its agent asks for. */
export type Ipv6Obstacle =
  | { readonly kind: 'ipv6Unsupported' }
  /** None of those that may serve the node has an IPv6 block. */
  | { readonly kind: 'noIpv6Subnet'; readonly subnetIds: readonly string[] }
  /** No interface has a free place for it, and none can be added. */
  | { readonly kind: 'noIpv6Room' };

/** Some of them. */
export type ObstacleOf<Kind extends Obstacle['kind']> = Extract<Obstacle, { readonly kind: Kind }>;

/** Interfaces that could serve the rest if they were repaired in the cloud. */
export class BrokenInterfaces {
  readonly #view: Pick<InstanceView, 'unreadable' | 'obscured'>;
  readonly #obscured = new Set<UnreadableInterface>();
  /** The cloud has failed to change them. */
  readonly failed: string[] = [];

  constructor(view: Pick<InstanceView, 'unreadable' | 'obscured'>) {
    this.#view = view;
  }

  /** Interfaces that cannot be read, or no longer. */
  get unreadable(): readonly UnreadableInterface[] {
    return [...this.#view.unreadable, ...this.#obscured];
  }

  /** Whether only a repair lets the interface take more. */
  note({ id, condition }: NetworkInterface): boolean {
    const obscured = this.#view.obscured.find((item) => item.id === id);
    if (obscured !== undefined) this.#obscured.add(obscured);
    else if (condition === 'failed') this.failed.push(id);
    return obscured !== undefined || condition === 'failed';
  }
}
