// The facts that Headwater learns from a cloud, from listings and from refreshes of single instances, and the view of one
// instance, as input for decisions.
import { isPrimaryInterface, type NetworkInterface } from './network-interface.ts';

/** Read from the cloud. */
export type Observation =
  | { readonly kind: 'interface'; readonly interface: NetworkInterface }
  | { readonly kind: 'unreadableInterface'; readonly interface: UnreadableInterface }
  | { readonly kind: 'addresslessInterface'; readonly interface: OccupiedSlot }
  | { readonly kind: 'instance'; readonly instance: Instance };

/** An interface that occupies its slot and is never used. */
export interface OccupiedSlot {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number | undefined;
  readonly networkCard: number;
}

/** An interface that exists but could not be parsed. */
export interface UnreadableInterface extends OccupiedSlot {
  /** The fault of the interface. */
  readonly problem: string;
}

/** Attached to an instance, but unusable for pods. */
export type UnusableInterface = Extract<
  Observation,
  { readonly kind: 'unreadableInterface' | 'addresslessInterface' }
>;

export interface Instance {
  readonly id: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated' | 'unknown';
  /** False if the options exclude this instance. */
  readonly managed: boolean;
}

/** Each instance that was asked for. Whether one that is not shown is `managed` cannot be told if tags decide. */
export function askedInstances(
  ids: readonly string[],
  shown: ReadonlyMap<string, Instance>,
  managed: boolean,
): readonly Observation[] {
  return ids.map((id) => ({
    kind: 'instance',
    instance: shown.get(id) ?? { id, state: 'unknown', managed },
  }));
}

/** Whether it shows a primary interface that can be read. */
export function isOfPrimary(observation: Observation): boolean {
  return observation.kind === 'interface' && isPrimaryInterface(observation.interface);
}

export function interfaceOf(observation: Observation): string | undefined {
  return observation.kind === 'instance' ? undefined : observation.interface.id;
}

export interface InstanceLimits {
  /** Interfaces on the default network card, including the primary one. */
  readonly interfaces: number;
  /** IPv4 addresses of one interface, including its primary one. */
  readonly addressesPerInterface: number;
  /** The same of all its interfaces together; omitted where only those of each are limited. */
  readonly addressesPerInstance?: number;
  /** Whether its interfaces support prefixes, each in place of one address. */
  readonly prefixes: boolean;
  /** IPv6 addresses of one interface, a prefix counting as one; omitted where it can have no IPv6 prefix. */
  readonly ipv6PerInterface?: number;
}

/** The cloud's answer about an instance type cannot be parsed. */
export interface UnreadableLimits {
  readonly problem: string;
}

/** An attachment that our own call made, or that a read showed under way, and that no read has shown complete. */
export interface AwaitedAttachment {
  readonly attachmentId: string;
  /** In monotonic ms. */
  readonly since: number;
  /** Whether a read that began after the consistency window did not show it. */
  readonly isOverdue: boolean;
}

export interface InstanceView {
  readonly id: string;
  /**
   * Whether the cloud has completely answered for this instance at least once. A listing without its primary interface may
   * lack more, such as addresses that a previous leader assigned: it is no such answer.
   */
  readonly read: boolean;
  /**
   * The presence of the instance in the cloud. `withoutPrimary`: it exists without a visible primary interface, so other
   * interfaces may be hidden too. `notFound`: nothing; it may be in another region or account, or hidden from the role.
   */
  readonly presence: 'unread' | 'shown' | 'withoutPrimary' | 'notFound' | 'terminated';
  /** Ordered by device index, then id. */
  readonly interfaces: readonly NetworkInterface[];
  readonly unreadable: readonly UnreadableInterface[];
  /** Known interfaces that can no longer be parsed: they stay as they were known, and get nothing more. */
  readonly obscured: readonly UnreadableInterface[];
  /** Interfaces without any IPv4 address. This is normal: they occupy slots and are never used. */
  readonly addressless: readonly OccupiedSlot[];
  readonly instance: Instance | undefined;
  /** Addresses and prefixes, by interface, that the cloud shows but that may already be gone: do not rely on them. */
  readonly unconfirmed: ReadonlyMap<string, readonly string[]>;
  /**
   * Ids of interfaces, addresses and prefixes that may already be gone. They stay published until that is proved, and
   * nothing new relies on them.
   */
  readonly possiblyGone: ReadonlySet<string>;
  /**
   * For an instance that is not shown: ids of interfaces, and addresses, that are still known to be gone; those of a
   * prefix one by one. The CiliumNode keeps everything else.
   */
  readonly withdrawn: ReadonlySet<string>;
  /** The part of `possiblyGone` known only from before this process: the cloud has never shown it here. */
  readonly unseen: ReadonlySet<string>;
  /**
   * By id, interfaces that no read has shown attached yet. What an answer to our own call says of them is planned with;
   * nothing of them is offered or counts as supply.
   */
  readonly awaited: ReadonlyMap<string, AwaitedAttachment>;
  /** When to refresh this instance next, in monotonic ms; undefined if nothing is unconfirmed. */
  readonly refreshDue: number | undefined;
}

/** Whether the cloud shows nothing of it to rely on, so that everything known dates from before. */
export function isUnseen({ presence, interfaces, possiblyGone }: InstanceView): boolean {
  if (presence === 'notFound') return true;
  return presence === 'withoutPrimary' && interfaces.every(({ id }) => possiblyGone.has(id));
}

/** Separates unusable interfaces by whether they indicate a fault, and by whether more was known of them. */
export function unusableParts(
  items: readonly UnusableInterface[],
  isKnown: (id: string) => boolean,
): Pick<InstanceView, 'unreadable' | 'obscured' | 'addressless'> {
  const unreadable = items.flatMap((item) => (item.kind === 'unreadableInterface' ? [item.interface] : []));
  return {
    unreadable: unreadable.filter(({ id }) => !isKnown(id)),
    obscured: unreadable.filter(({ id }) => isKnown(id)),
    addressless: items.flatMap((item) =>
      item.kind === 'addresslessInterface' && !isKnown(item.interface.id) ? [item.interface] : [],
    ),
  };
}

/** Interfaces of the instance that cannot serve pods, whatever its options say. */
export function unusableIn({ unreadable, addressless }: InstanceView): readonly OccupiedSlot[] {
  return addressless.length === 0 ? unreadable : [...unreadable, ...addressless];
}

/** By device index, then id. */
export function inOrder(interfaces: readonly NetworkInterface[]): NetworkInterface[] {
  const index = (item: NetworkInterface): number => item.attachment?.deviceIndex ?? Infinity;
  return interfaces.toSorted((a, b) => index(a) - index(b) || (a.id < b.id ? -1 : 1));
}

/**
 * The network that the cloud shows the instance in: that of its primary interface, for others may be elsewhere. Undefined if it
 * shows none.
 */
export function networkOf({ interfaces, unseen }: InstanceView): string | undefined {
  return interfaces.find((item) => isPrimaryInterface(item) && !unseen.has(item.id))?.networkId;
}

/** Undefined until it is known. */
export function primaryInterface({
  interfaces,
}: Pick<InstanceView, 'interfaces'>): NetworkInterface | undefined {
  return interfaces.find(isPrimaryInterface);
}
