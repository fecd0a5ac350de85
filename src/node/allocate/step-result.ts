// The result of a step of a plan.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { StepCall } from '../../providers/contract/failure-policy.ts';
import type { PlannedStep } from './planned-step.ts';

export interface FinishedStep {
  readonly step: PlannedStep;
  readonly result: StepResult;
  /** In ms, from the grant of its tokens to its end. */
  readonly duration: number;
}

/** A step has ended. */
export interface StepEvent {
  readonly kind: 'step';
  readonly finished: FinishedStep;
}

/** News of the calls of a step before it ends. `created`: its interface exists, and has what it was requested with. */
export type StepProgress = { readonly kind: 'created' } | StepTrouble;

export interface StepTrouble {
  /**
   * `throttled`: a call is repeated. `refused`: the step certainly brings nothing, but what it created waits for the end
   * of the leader's quiet period to be deleted.
   */
  readonly kind: 'throttled' | 'refused';
  readonly failure: CloudFailure;
}

export type StepResult =
  | {
      readonly kind: 'done';
      readonly interfaceId: string;
      /** The cloud still attaches the interface, which supplies the node once that ends. */
      readonly isAttaching?: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly at: StepCall;
      readonly failure: CloudFailure;
      /** Addresses that may be taken from the subnet despite the failure. */
      readonly taken: number;
      readonly left: string | undefined;
      /** An interface that is known only by its tags may exist. */
      readonly uncertain?: boolean;
    };
