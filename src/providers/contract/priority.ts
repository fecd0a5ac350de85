// Priorities of calls, highest first. The owner of a call recomputes its priority on each request.

export type Priority =
  /** Pods wait and the node has no free address. */
  | 'critical'
  /** More pods wait than addresses are free, or the node has no address at all and its agent cannot start. */
  | 'high'
  | 'normal'
  | 'release'
  | 'housekeeping';

/**
 * Who waits for a call. The priority is read whenever a token or slot is granted, so that a waiting call with rising priority
 * moves ahead.
 */
export interface Caller {
  readonly priority: Priority;
}

export const priorities = [
  'critical',
  'high',
  'normal',
  'release',
  'housekeeping',
] as const satisfies readonly Priority[];

/** 0 is the highest priority. */
export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority);
}

/** Whether pods wait for the call. Other calls leave part of each bucket to these. */
export function isPressing(priority: Priority): boolean {
  return priority === 'critical' || priority === 'high';
}
