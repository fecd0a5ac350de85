// The room of an instance, beside what is on its way to it: how much on each interface, and at which device index the
// next one. And the interfaces that a repair would bring back. Pure.
import {
  type InstanceLimits,
  type InstanceView,
  type UnreadableInterface,
  unusableIn,
} from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import {
  isOnDefaultCard,
  type KnownInstance,
  occupiedSlots,
  placesLeft,
  roomOn,
  unconfirmedOn,
} from '../demand/capacity.ts';
import { exclusionOf } from '../demand/node-requirements.ts';
import type { AllocationFacts } from './allocation-facts.ts';
import type { ObstacleOf } from './allocation-plan.ts';
import { deviceIndexOf, type PlannedStep, slotsFilled } from './planned-step.ts';

/** Slots of an interface that may be filled, now or once it is no longer frozen. `coming`: steps in flight or planned. */
export function roomFor(
  item: NetworkInterface,
  { view, limits, requirements }: KnownInstance,
  coming: readonly PlannedStep[],
): number {
  const isNamed = (requirements.interfaceName ?? item.name) === item.name;
  if (!isNamed || exclusionOf(item, requirements) !== undefined) return 0;
  const comingTo = (id: string): number =>
    coming.reduce((sum, step) => sum + slotsFilled(step, id), unconfirmedOn(view, id));
  const own = roomOn(item, limits) - comingTo(item.id);
  const left = placesLeft(limits, view);
  if (left === Infinity) return own;
  return Math.min(
    own,
    view.interfaces.reduce((sum, { id }) => sum - comingTo(id), left),
  );
}

/** Why nobody knows whether the room of an interface may be filled: the tags that an option asks for could not be read. */
export function unreadRoom(
  facts: AllocationFacts,
  coming: readonly PlannedStep[],
): ObstacleOf<'networkUnreadable'> | undefined {
  const { subnets, unreadTags } = facts.network.infrastructure;
  const failures = facts.view.interfaces.map((item) => {
    const isLeftOut = subnets.get(item.subnetId)?.eligible === false;
    return isLeftOut && roomFor(item, facts, coming) > 0 ? unreadTags?.get(item.subnetId) : undefined;
  });
  const failure = failures.find((each) => each !== undefined);
  return failure && { kind: 'networkUnreadable', failure };
}

/** Names the first index where it excludes more than the primary interface, which is usual. */
export function noSlots({ view, limits, requirements }: KnownInstance): ObstacleOf<'noInterfaceSlots'> {
  const { firstInterfaceIndex } = requirements;
  const isBelow = ({ attachment }: NetworkInterface): boolean =>
    (attachment?.deviceIndex ?? 0) < firstInterfaceIndex;
  const count = view.interfaces.filter(isBelow).length;
  return {
    kind: 'noInterfaceSlots',
    interfaces: limits.interfaces,
    ...(count > 1 && { below: { count, firstInterfaceIndex } }),
  };
}

export interface DeviceSlots {
  readonly view: InstanceView;
  readonly limits: Pick<InstanceLimits, 'interfaces'>;
  readonly requirements: { readonly firstInterfaceIndex: number };
  /** Steps in flight and planned. */
  readonly steps: readonly PlannedStep[];
}

/** The lowest free device index for pods; undefined if every slot is taken. */
export function freeDeviceIndex(slots: DeviceSlots): number | undefined {
  const { view, limits, requirements, steps } = slots;
  if (occupiedSlots(view) + comingIndexes(steps).length >= limits.interfaces) return undefined;
  const taken = takenIndexes(slots);
  let index = requirements.firstInterfaceIndex;
  while (taken.has(index)) index++;
  return index;
}

/** The device index for an orphan: its own slot, if it has one, because agents would know it by no other. */
export function deviceIndexFor({ slot }: NetworkInterface, slots: DeviceSlots): number | undefined {
  const free = freeDeviceIndex(slots);
  if (slot === undefined || free === undefined) return free;
  return takenIndexes(slots).has(slot) ? undefined : slot;
}

/** Device indexes of interfaces that the planned steps add. */
function comingIndexes(steps: readonly PlannedStep[]): readonly number[] {
  return steps.flatMap((step) => deviceIndexOf(step) ?? []);
}

function takenIndexes({ view, steps }: DeviceSlots): ReadonlySet<number | undefined> {
  const taken = new Set<number | undefined>(comingIndexes(steps));
  for (const { attachment } of view.interfaces)
    if ((attachment?.networkCard ?? 0) === 0) taken.add(attachment?.deviceIndex);
  for (const { networkCard, deviceIndex } of unusableIn(view)) if (networkCard === 0) taken.add(deviceIndex);
  return taken;
}

/** Whether it is being detached, and no part of the node follows that: it serves nothing more, and its slot gets free. */
export function isLeaving({ id, attachment }: NetworkInterface, frozen: ReadonlySet<string>): boolean {
  return attachment?.state === 'detaching' && !frozen.has(id);
}

/** Interfaces that could serve the rest if they were repaired in the cloud, or whose slots could. */
export class BrokenInterfaces {
  readonly #view: Pick<InstanceView, 'interfaces' | 'unreadable' | 'obscured'>;
  readonly #frozen: ReadonlySet<string>;
  readonly #obscured = new Set<UnreadableInterface>();
  /** The cloud has failed to change them. */
  readonly failed: string[] = [];

  /** `frozen`: interfaces that wait for changes of ours. */
  constructor(
    view: Pick<InstanceView, 'interfaces' | 'unreadable' | 'obscured'>,
    frozen: ReadonlySet<string>,
  ) {
    this.#view = view;
    this.#frozen = frozen;
  }

  /** Why no slot is left, if a repair or the end of a detachment helps. */
  get obstacle(): ObstacleOf<'interfacesUnreadable' | 'interfacesDetaching'> | undefined {
    const interfaces = [...this.#view.unreadable, ...this.#obscured];
    if (interfaces.length > 0) return { kind: 'interfacesUnreadable', interfaces };
    // Full ones too: their slots get free.
    const leaving = this.#view.interfaces.filter(
      (item) => isLeaving(item, this.#frozen) && isOnDefaultCard(item),
    );
    const interfaceIds = leaving.map(({ id }) => id);
    return interfaceIds.length > 0 ? { kind: 'interfacesDetaching', interfaceIds } : undefined;
  }

  /** Whether the interface takes no more, unless it is repaired. */
  note(item: NetworkInterface): boolean {
    const { id, condition } = item;
    const obscured = this.#view.obscured.find((each) => each.id === id);
    if (obscured !== undefined) this.#obscured.add(obscured);
    else if (condition === 'failed') this.failed.push(id);
    else return isLeaving(item, this.#frozen);
    return true;
  }
}
