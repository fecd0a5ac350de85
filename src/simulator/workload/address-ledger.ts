// Which machine uses which address, over all machines of a fleet: what no agent can see by itself.

export class AddressLedger {
  readonly #holders = new Map<string, string>();

  /** Notes that `node` uses the address; answers with another node that does so already, if there is one. */
  take(network: string, address: string, node: string): string | undefined {
    const key = `${network}/${address}`;
    const holder = this.#holders.get(key);
    if (holder !== undefined && holder !== node) return holder;
    this.#holders.set(key, node);
    return undefined;
  }

  giveBack(network: string, address: string, node: string): void {
    const key = `${network}/${address}`;
    if (this.#holders.get(key) === node) this.#holders.delete(key);
  }
}
