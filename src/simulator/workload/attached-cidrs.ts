// The CIDRs that a multi-pool agent may allocate from, derived only from its node's status.
import { type ExclusionRule, type InterfaceStatus, isExcluded } from './interface-status.ts';
import { baseOf, type Cidr, formatCidr, parseAddress, parseCidr } from './ipv4.ts';

export interface AttachedCidr {
  /** Canonical text. */
  readonly text: string;
  readonly range: Cidr;
  readonly interfaceId: string;
}

/**
 * Every prefix of every interface that is not excluded, plus each address outside its interface's prefixes as
 * a /32. Skips malformed and duplicate entries.
 */
export function attachedCidrs(
  interfaces: readonly InterfaceStatus[],
  rule: ExclusionRule,
): ReadonlyMap<string, AttachedCidr> {
  const found = new Map<string, AttachedCidr>();
  for (const each of interfaces) {
    if (isExcluded(each, rule)) continue;
    for (const range of cidrsOf(each)) {
      const text = formatCidr(range);
      if (!found.has(text)) found.set(text, { text, range, interfaceId: each.id });
    }
  }
  return found;
}

function cidrsOf(source: InterfaceStatus): readonly Cidr[] {
  const prefixes = source.prefixes.map(parseCidr).filter((prefix) => prefix !== undefined);
  const bases = new Set(prefixes.map(formatCidr));
  const lengths = [...new Set(prefixes.map((prefix) => prefix.bits))];
  const singles: Cidr[] = [];
  for (const text of source.addresses) {
    const first = parseAddress(text);
    if (first === undefined) continue;
    const covered = lengths.some((bits) => bases.has(formatCidr({ first: baseOf(first, bits), bits })));
    if (!covered) singles.push({ first, bits: 32 });
  }
  return [...prefixes, ...singles];
}
