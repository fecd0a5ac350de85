// Parses the first interface of an instance from an answer of Compute Engine. Pure.
import type { InstancePath } from './ids.ts';
import { type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { objectsIn } from './compute-answer.ts';

export interface AliasRange {
  /** An IPv4 network, as the cloud writes it. */
  readonly ipCidrRange: string;
  /** The secondary range of the subnetwork that it is a part of; absent for the primary one. */
  readonly subnetworkRangeName?: string;
}

export interface AliasInterface {
  /** The name of the interface, such as nic0. */
  readonly nic: string;
  /** Stands for the state that was read: a change of another state is refused. */
  readonly fingerprint: string;
  readonly ranges: readonly AliasRange[];
  /** The first address of its IPv6 range of /96; undefined without IPv6. */
  readonly ipv6: string | undefined;
}

/** An answer that does not show the instance whole proves nothing. */
export function interfaceIn(
  output: object,
  { name }: Pick<InstancePath, 'name'>,
): AliasInterface | { readonly problem: string } {
  if (valueAt(output, 'name') !== name) return { problem: 'the answer shows another instance' };
  const [first] = objectsIn(valueAt(output, 'networkInterfaces')) ?? [];
  if (first === undefined) return { problem: 'the instance has no interface' };
  const [nic, fingerprint] = [textAt(first, 'name') ?? '', textAt(first, 'fingerprint') ?? ''];
  if (!/^nic\d{1,2}$/.test(nic)) return { problem: 'its interface has no name' };
  if (fingerprint === '') return { problem: 'its interface has no fingerprint' };
  const ranges = rangesIn(first);
  if (ranges === undefined) return { problem: 'its alias IP ranges are no list of networks' };
  return { nic, fingerprint, ranges, ipv6: ipv6In(first) };
}

/** The list is left out where it is empty. */
function rangesIn({ aliasIpRanges = [] }: JsonObject): readonly AliasRange[] | undefined {
  const shown = objectsIn(aliasIpRanges);
  const ranges = shown?.flatMap(rangeIn);
  return ranges?.length === shown?.length ? ranges : undefined;
}

function rangeIn({ ipCidrRange, subnetworkRangeName }: JsonObject): readonly AliasRange[] {
  if (typeof ipCidrRange !== 'string') return [];
  return [{ ipCidrRange, ...(typeof subnetworkRangeName === 'string' && { subnetworkRangeName }) }];
}

/** An internal range, or an external one. */
function ipv6In(nic: JsonObject): string | undefined {
  const [config] = objectsIn(valueAt(nic, 'ipv6AccessConfigs')) ?? [];
  return textAt(nic, 'ipv6Address') || textAt(config, 'externalIpv6') || undefined;
}
