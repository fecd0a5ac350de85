// How clouds differ, as data. The core branches on these traits and on nothing else.
import type { InstanceLimits } from './allocation-implementation.ts';

export interface CloudTraits {
  /** Whether Headwater makes and deletes interfaces, or serves those that an instance was given. */
  readonly interfaces: 'made' | 'given';
  /**
   * What a repeated assignment does: it assigns more, or it is recognized by its operation id. Only the latter needs
   * `operationId`.
   */
  readonly repeatedAssignment: 'adds' | 'isRecognized';
  /** The most addresses that one call creates an interface with, its primary address included, or assigns. */
  readonly maxPerCall: number;
  /** Whether changes to different interfaces of one instance exclude each other. */
  readonly change: 'perInterface' | 'perInstance';
  /** What an instance can hold: read by its type, or the same for all. Then it has the interfaces that are there. */
  readonly limits: 'byType' | Omit<InstanceLimits, 'interfaces'>;
  /** Whether addresses come in prefixes, too, so that whole blocks of a subnet count. */
  readonly prefixes: boolean;
  /** Whether its agents can use IPv6 prefixes of interfaces. */
  readonly ipv6: boolean;
  /** Whether its agents may request a count of addresses for a pool, instead of listing those that they use. */
  readonly poolRequests: boolean;
  /** Whether a call may not find an instance that has just been launched. */
  readonly newInstances: 'knownAtOnce' | 'knownLate';
  /** Whether a public address can be associated with the primary interface. */
  readonly publicAddresses: boolean;
}
