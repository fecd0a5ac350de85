// Holds what is being added to a node. Each part that must know reads it here; only allocation changes it.
import { LazySet } from '../../runtime/lazy-collections.ts';
import type { PlannedStep } from './planned-step.ts';

export type Assignment = PlannedStep & {
  readonly kind: 'allocateIPs' | 'allocatePrefixes' | 'allocateIpv6Prefix';
};

export interface LostAssignment {
  readonly step: Assignment;
  /** Addresses of the requested kind that the interface had before. */
  readonly before: ReadonlySet<string>;
  /** From then on it can no longer take effect unseen; in monotonic ms. Undefined once a refresh looks for its result. */
  openUntil: number | undefined;
}

const none: ReadonlySet<string> = new Set();

export class Growth {
  /** Steps that wait for the rate limits. */
  waiting = 0;
  /** Steps whose calls are in flight. */
  readonly steps = new LazySet<PlannedStep>();
  /** Assignments with a lost answer, which may still take effect unseen. */
  readonly lost = new LazySet<LostAssignment>();

  /** Whether anything is being added, or about to be. */
  get isComing(): boolean {
    return this.waiting + this.steps.size > 0;
  }

  /** Existing interfaces to which addresses are being added, or to which a call with a lost answer may still add some. */
  get interfaces(): ReadonlySet<string> {
    if (this.steps.size + this.lost.size === 0) return none;
    const steps = [...this.steps, ...[...this.lost].map(({ step }) => step)];
    const filling = steps.filter(({ kind }) => kind !== 'adoptInterface' && kind !== 'createInterface');
    return new Set(filling.flatMap((step) => ('interfaceId' in step ? step.interfaceId : [])));
  }
}
