// Knows which CiliumNodes a replica rightly sees written by somebody else who claims them: another replica wrote them
// while both led, as after their Lease was deleted. A watch may show such a write long after that.

export class ContestedNodes {
  /** By the identity of a replica. */
  readonly #contested = new Map<string, Set<string>>();

  /** A replica wrote a CiliumNode while these, all by identity, led. */
  written(name: string, writer: string, leaders: readonly string[]): void {
    if (!leaders.includes(writer)) return;
    for (const leader of leaders)
      if (leader !== writer)
        this.#contested.set(leader, (this.#contested.get(leader) ?? new Set()).add(name));
  }

  /** Whether another replica wrote the CiliumNode while this one led, too. */
  isContested(name: string, replica: string): boolean {
    return this.#contested.get(replica)?.has(name) === true;
  }
}
