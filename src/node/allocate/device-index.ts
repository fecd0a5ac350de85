// Which device index the next interface gets. Other interfaces that come hold theirs already.
import { type InstanceLimits, type InstanceView, unusableIn } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { occupiedSlots } from '../demand/capacity.ts';
import { deviceIndexOf, type PlannedStep } from './planned-step.ts';

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
  return new Set<number | undefined>([
    ...view.interfaces
      .filter((item) => (item.attachment?.networkCard ?? 0) === 0)
      .map((item) => item.attachment?.deviceIndex),
    ...unusableIn(view)
      .filter((item) => item.networkCard === 0)
      .map((item) => item.deviceIndex),
    ...comingIndexes(steps),
  ]);
}
