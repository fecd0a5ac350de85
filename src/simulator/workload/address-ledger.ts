// Tracks which machine uses which address across the whole fleet, which no single agent can see.

export class AddressLedger {
  readonly #holders = new Map<string, string>();

  /** Records that `node` uses the address; returns another node that already uses it, if any. */
  take(network: string, address: string, node: string): string | undefined {
    const key = `${network}/${address}`;
    const holder = this.#holders.get(key);
    if (holder !== undefined && holder !== node) return holder;
    this.#holders.set(key, node);
    return undefined;
  }

  release(network: string, address: string, node: string): void {
    const key = `${network}/${address}`;
    if (this.#holders.get(key) === node) this.#holders.delete(key);
  }
}
