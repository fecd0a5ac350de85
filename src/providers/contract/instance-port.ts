// The instance of a node, as the parts of the node act on it.
import type { AllocationImplementation } from './allocation-implementation.ts';
import type { Answer } from './observation.ts';

export interface InstancePort {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  /** Applies the answer to a call to what is known of the instance. */
  applyAnswer(answer: Answer): void;
  /** The state of the instance is uncertain from that time on. */
  invalidate(from: number): void;
  /** Reads the instance; resolves once the answer is applied, however long that takes. */
  refresh(): Promise<void>;
}
