// Answers which of its addresses a node may offer, and which others offer or claim them.

/** Ownership of offered addresses across the whole fleet. */
export interface AddressClaims {
  /**
   * Claims addresses before a node offers them. Withholds an address that other nodes show and this node does
   * not: no address may be offered twice. An address that the node already shows stays. A pod may use it, and
   * only the cloud can say which node shows it wrongly.
   */
  claim(claim: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): Claimed;

  /** The addresses that the cloud shows on another node's instance. */
  heldByOthers(shown: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): ReadonlySet<string>;
}

/** Addresses that other nodes also offer or claim, with the names of those nodes. */
export interface Claimed {
  /** Not claimed and must not be offered. An address is here only if the cloud does not prove the other claim wrong. */
  readonly excluded: ReadonlyMap<string, readonly string[]>;
  /** Claimed, because the node already shows them. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
  /** Excluded addresses that wait only for the cloud's answer about the other node. */
  readonly unasked: ReadonlySet<string>;
}
