// What is known of one instance, for those who decide by it.
import type { NetworkInterface } from './network-interface.ts';
import type { Instance, UnreadableInterface } from './observation.ts';

export interface InstanceView {
  readonly id: string;
  /** Whether the cloud has completely answered for this instance at least once. */
  readonly read: boolean;
  /** In order of device index, then id. */
  readonly interfaces: readonly NetworkInterface[];
  readonly unreadable: readonly UnreadableInterface[];
  readonly instance: Instance | undefined;
  /** Addresses and prefixes, by interface, that the cloud shows and that may be gone already: not to be counted on. */
  readonly unconfirmed: ReadonlyMap<string, readonly string[]>;
  /**
   * Ids of interfaces, addresses and prefixes that may be gone already: what is published of them stays so until that is
   * proved, and nothing is built upon them.
   */
  readonly doubted: ReadonlySet<string>;
  /** When the cloud should be asked about this instance again, in monotonic ms; undefined when nothing is unclear. */
  readonly lookDue: number | undefined;
}
