// How much more an interface can take, beside what is on its way to it and to the others of its instance. Pure.
import type { InstanceLimits, InstanceView } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { placesLeft, roomOn, unconfirmedOn } from '../demand/capacity.ts';
import { exclusionOf, type NodeRequirements } from '../demand/node-requirements.ts';
import { type PlannedStep, slotsFilled } from './planned-step.ts';

interface Facts {
  readonly view: InstanceView;
  readonly limits: InstanceLimits;
  readonly requirements: NodeRequirements;
}

/** Slots of an interface that may be filled, now or once it is no longer frozen. `coming`: steps in flight or planned. */
export function roomFor(
  item: NetworkInterface,
  { view, limits, requirements }: Facts,
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
