// Asking a cloud whether changes would be permitted, without making any.
import type { CloudFailure } from './cloud-failure.ts';
import type { NetworkInterface, Tags } from './network-interface.ts';

/** The node that the changes are for. */
export interface RehearsedNode {
  readonly instanceId: string;
  /** An attached interface that Headwater made; undefined if there is none yet. */
  readonly own: NetworkInterface | undefined;
  /** Where its next interface would be. */
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  /** Tags for that interface. */
  readonly tags: Tags;
}

export interface Rehearsal {
  /** The call. */
  readonly action: string;
  /** `permitted` if the cloud would make the change. `unasked`: the question could make it, or needs what is not there yet. */
  readonly answer: 'permitted' | 'unasked' | CloudFailure;
}
