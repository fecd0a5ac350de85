// Which node may offer which address, as a node sees it.

/** Who offers which address, over the whole fleet. */
export interface AddressClaims {
  /**
   * Claims the addresses for a node before it offers them, but for those that it does not show yet and others do: no
   * address may be offered twice. One that the node shows already stays: a pod may use it, and only the cloud can say
   * who shows it wrongly.
   */
  claim(claim: {
    readonly name: string;
    readonly networkId: string;
    readonly addresses: Iterable<string>;
  }): Claimed;
}

/** What other nodes offer as well or have claimed, with their names. */
export interface Claimed {
  /** Not claimed, and not to be offered. */
  readonly withheld: ReadonlyMap<string, readonly string[]>;
  /** Claimed, because the node shows it already. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
}
