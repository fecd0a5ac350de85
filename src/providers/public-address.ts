// A public address of the account, as a cloud shows it.
import type { Tags } from './network-interface.ts';

export interface PublicAddress {
  readonly id: string;
  readonly address: string;
  readonly tags: Tags;
  /** Whether anything has it. */
  readonly taken: boolean;
  /** The interface that has it; undefined where it is free, or something without interfaces of ours has it. */
  readonly interfaceId: string | undefined;
}
