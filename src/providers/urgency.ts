// How badly a call is needed, most urgent first. Who has a call says so anew whenever it is asked.

export type Urgency =
  /** Pods wait, and the node has no free address. */
  | 'starving'
  /** Pods wait for more than is free, or the node has no address at all, without which its agent does not start. */
  | 'waiting'
  | 'toppingUp'
  | 'release'
  | 'housekeeping';

export const urgencies = [
  'starving',
  'waiting',
  'toppingUp',
  'release',
  'housekeeping',
] as const satisfies readonly Urgency[];

/** 0 is the most urgent. */
export function rankOf(urgency: Urgency): number {
  return urgencies.indexOf(urgency);
}

/** Those who are waited for by pods; the others leave them a part of each bucket. */
export function isPressing(urgency: Urgency): boolean {
  return urgency === 'starving' || urgency === 'waiting';
}
