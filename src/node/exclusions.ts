// Which interfaces of a node carry no pods, and why. Pure.
import type { InstanceView } from '../providers/instance-view.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

export interface Exclusion {
  readonly interfaceId: string;
  /** Undefined while it is not attached. */
  readonly deviceIndex: number | undefined;
  readonly why: string;
}

/** In the order of the view. */
export function exclusionsOf(view: InstanceView, requirements: NodeRequirements): readonly Exclusion[] {
  return view.interfaces.flatMap((item) => {
    const why = exclusionOf(item, requirements);
    return why === undefined
      ? []
      : [{ interfaceId: item.id, deviceIndex: item.attachment?.deviceIndex, why }];
  });
}
