// The interfaces in a CiliumNode's status as an agent reads them, whatever its cloud, and which of them it excludes.

export interface InterfaceStatus {
  readonly id: string;
  readonly mac: string;
  /** Device index; absent on the wire for the primary interface. */
  readonly number: number;
  /** Empty if the status does not say it. */
  readonly gateway: string;
  /** CIDRs that its network routes by itself, the primary CIDR first; empty if the status names none. */
  readonly cidrs: readonly string[];
  /** The value that the agent needs for its addresses and does not find; undefined if nothing is missing. */
  readonly lacks: string | undefined;
  readonly addresses: readonly string[];
  readonly prefixes: readonly string[];
  /** None on a cloud that has no such prefixes. */
  readonly ipv6Prefixes: readonly string[];
  readonly tags: ReadonlyMap<string, string>;
}

export interface ExclusionRule {
  /** Interfaces with a lower device index carry no pods; undefined if the index does not matter. */
  readonly firstInterfaceIndex: number | undefined;
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * Whether pods get no address of this interface: its index is too low, or it carries all the tags (no tags
 * exclude none).
 */
export function isExcluded(candidate: InterfaceStatus, rule: ExclusionRule): boolean {
  if (rule.firstInterfaceIndex !== undefined && candidate.number < rule.firstInterfaceIndex) return true;
  return rule.tags.size > 0 && [...rule.tags].every(([name, value]) => candidate.tags.get(name) === value);
}
