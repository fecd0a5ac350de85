// The CIDRs that a multi-pool agent may allocate from, derived only from its node's status.
import { formatIpv6Block, parseIpv6Block } from '../cloud/ipv6.ts';
import type { AnyCidr } from './address-range.ts';
import { type ExclusionRule, type InterfaceStatus, isExcluded } from './interface-status.ts';
import { baseOf, type Cidr, formatCidr, parseAddress, parseCidr } from './ipv4.ts';

export interface AttachedCidr {
  /** Canonical text. */
  readonly text: string;
  readonly range: AnyCidr;
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
  return attachedBy(interfaces, rule, (each) =>
    cidrsOf(each).map((range) => ({ text: formatCidr(range), range })),
  );
}

/** Every IPv6 prefix of every interface that is not excluded. Skips malformed and duplicate entries. */
export function attachedIpv6Prefixes(
  interfaces: readonly InterfaceStatus[],
  rule: ExclusionRule,
): ReadonlyMap<string, AttachedCidr> {
  return attachedBy(interfaces, rule, ({ ipv6Prefixes }) =>
    ipv6Prefixes.flatMap((prefix) => {
      const range = parseIpv6Block(prefix);
      return range === undefined ? [] : { text: formatIpv6Block(range), range };
    }),
  );
}

function attachedBy(
  interfaces: readonly InterfaceStatus[],
  rule: ExclusionRule,
  rangesOf: (each: InterfaceStatus) => readonly Pick<AttachedCidr, 'text' | 'range'>[],
): ReadonlyMap<string, AttachedCidr> {
  const found = new Map<string, AttachedCidr>();
  for (const each of interfaces) {
    if (isExcluded(each, rule)) continue;
    for (const { text, range } of rangesOf(each))
      if (!found.has(text)) found.set(text, { text, range, interfaceId: each.id });
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
