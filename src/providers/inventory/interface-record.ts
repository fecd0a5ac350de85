// Data types: one interface record with what Headwater knows beyond the cloud's view, and one read that may change it.
import type { AwaitedAttachment } from '../contract/facts.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';

export interface InterfaceRecord {
  readonly interface: NetworkInterface;
  /** The start of the last read that showed it or the end of our last write to it, whichever is newer. */
  readonly asOf: number;
  /** The start of the last read that showed it. */
  readonly shownAt: number;
  /** When our own call attached it to the instance. Reads that began soon after need not show it yet. */
  readonly joinedAt: number;
  /** Undefined once a read showed it attached. */
  readonly awaited: AwaitedAttachment | undefined;
  /** Addresses and prefixes that our own calls added, with the end of each call. */
  readonly added: ReadonlyMap<string, number>;
  /** Addresses and prefixes that our own calls removed, with the end of each call. Reads may still show them. */
  readonly released: ReadonlyMap<string, number>;
  /**
   * Addresses and prefixes that agents gave up and that a call with a lost answer may have removed, with the time until
   * which it may still do so.
   */
  readonly releasing: ReadonlyMap<string, number>;
  /**
   * Addresses and prefixes that a refresh of the whole interface did not show, with the end of the first such refresh.
   */
  readonly missing: ReadonlyMap<string, number>;
  /** End of the first refresh of the whole instance that did not show the interface. */
  readonly absentSince: number | undefined;
  /**
   * The part of `missing` and `absentSince` that is proven gone and waits for the withdrawal gate. Holds ids of the
   * interface, addresses and prefixes.
   */
  readonly proven: ReadonlySet<string>;
  /** When the first read that misses any of what is missing was sent: one that began in an outage may end after it. */
  readonly missedFrom?: number;
  /** When the last read that misses all of what is missing was sent, in monotonic ms. */
  readonly missedAt?: number;
  /**
   * The part that the last answer left unconfirmed. `holdings`: a listing lacked the interface. `all`: a refresh proved
   * nothing, or a call was refused because the interface does not exist.
   */
  readonly unclear: 'nothing' | 'holdings' | 'all';
  /** Start of a read that showed it detached or on another instance; no later read showed it here. */
  readonly elsewhereAt: number | undefined;
  /**
   * Addresses and prefixes that the last answer, a listing, did not show; or that were missing or known only from before a
   * restart, and that only a read of the changing interface showed since.
   */
  readonly unlistedHoldings: ReadonlySet<string>;
  /** Addresses and prefixes known from before a restart that no read has shown yet. */
  readonly unseen: ReadonlySet<string>;
}

/** A complete answer of the cloud about an instance. */
export interface Reading {
  /** When the request was sent and when the answer was complete, in monotonic ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** A `refresh` reads by id. A `listing` may be torn between pages, so it can leave things unconfirmed but prove nothing. */
  readonly scope: 'refresh' | 'listing';
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** Whether it shows the instance alive with its primary interface. */
  readonly whole: boolean;
  /** Whether it shows the instance with its primary interface, although it may have left out others. */
  readonly showsPrimary: boolean;
  /** The instance is known to be terminated: anything not shown is gone. */
  readonly terminated: boolean;
  /** Addresses that the agent gave up and is no longer offered. A previous leader may have released them. */
  readonly givenUp: ReadonlySet<string>;
}

/** The time and the scope of one answer. */
export type PartOfReading = Pick<Reading, 'startedAt' | 'endedAt' | 'scope'> & {
  readonly showsPrimary?: boolean;
  /** Whether it may have left out an interface. */
  readonly isPartial?: boolean;
};

/** An interface about to be attached, as known at a given time. */
export interface Unattached {
  readonly interface: NetworkInterface;
  /** In monotonic ms. */
  readonly knownAt: number;
}
