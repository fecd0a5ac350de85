// The interfaces in a CiliumNode's status as an agent reads them, and which of them it excludes.
import { type JsonObject, numberAt, objectAt, textAt, textMapAt, textsAt, valueAt } from './json.ts';

export interface InterfaceStatus {
  readonly id: string;
  readonly mac: string;
  /** Device index; absent on the wire for the primary interface. */
  readonly number: number;
  readonly subnetCidr: string;
  readonly vpcPrimaryCidr: string;
  readonly vpcCidrs: readonly string[];
  readonly addresses: readonly string[];
  readonly prefixes: readonly string[];
  readonly tags: ReadonlyMap<string, string>;
}

export interface ExclusionRule {
  /** Interfaces with a lower device index carry no pods; undefined if the index does not matter. */
  readonly firstInterfaceIndex: number | undefined;
  readonly tags: ReadonlyMap<string, string>;
}

/** Ordered by device index, then by id, the key in `status.eni.enis`. */
export function interfacesOf(node: JsonObject): readonly InterfaceStatus[] {
  return Object.values(objectAt(node, 'status', 'eni', 'enis'))
    .map((entry) => ({
      id: textAt(entry, 'id'),
      mac: textAt(entry, 'mac'),
      number: numberAt(entry, 'number'),
      subnetCidr: textAt(entry, 'subnet', 'cidr'),
      vpcPrimaryCidr: textAt(entry, 'vpc', 'primary-cidr'),
      vpcCidrs: textsAt(entry, 'vpc', 'cidrs'),
      addresses: textsAt(entry, 'addresses'),
      prefixes: textsAt(entry, 'prefixes'),
      tags: textMapAt(entry, 'tags'),
    }))
    .toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1));
}

export function exclusionOf(node: JsonObject): ExclusionRule {
  const index = valueAt(node, 'spec', 'eni', 'first-interface-index');
  return {
    firstInterfaceIndex: typeof index === 'number' ? index : undefined,
    tags: textMapAt(node, 'spec', 'eni', 'exclude-interface-tags'),
  };
}

/**
 * Whether pods get no address of this interface: its index is too low, or it carries all the tags (no tags
 * exclude none).
 */
export function isExcluded(candidate: InterfaceStatus, rule: ExclusionRule): boolean {
  if (rule.firstInterfaceIndex !== undefined && candidate.number < rule.firstInterfaceIndex) return true;
  return rule.tags.size > 0 && [...rule.tags].every(([name, value]) => candidate.tags.get(name) === value);
}
