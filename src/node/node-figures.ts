// What is told of a managed node to those who count and report.
import type { InstanceView } from '../providers/instance-view.ts';
import type { Assessment } from './assessment.ts';
import { occupiedSlots, roomOn } from './capacity.ts';
import type { AgentProtocol } from './demand.ts';
import type { Diagnosis } from './diagnosis.ts';
import { exclusionOf } from './node-requirements.ts';

export interface NodeFigures {
  readonly protocol: AgentProtocol;
  readonly assessment: Assessment;
  readonly diagnosis: Diagnosis | undefined;
  /** What is to be said of it although it is served. */
  readonly remarks: readonly Diagnosis[];
  readonly view: InstanceView | undefined;
  /** Since when the node lacks addresses, in monotonic ms. */
  readonly shortSince: number | undefined;
}

/** Interfaces of the instance that have room for pod addresses, and slots for further ones. */
export function interfaceRoom(figures: NodeFigures): {
  readonly candidates: number;
  readonly emptySlots: number;
} {
  const { assessment, view } = figures;
  if (assessment.kind !== 'served' || view === undefined) return { candidates: 0, emptySlots: 0 };
  const { limits, requirements } = assessment;
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  return {
    candidates: usable.filter((item) => roomOn(item, limits) > 0).length,
    emptySlots: Math.max(0, limits.interfaces - occupiedSlots(view)),
  };
}
