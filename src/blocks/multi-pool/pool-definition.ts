// The meaning of a CiliumPodIPPool: its networks, how they are divided, and how many addresses of a block pods get. Pure.
import type { CiliumPodIpPool, PoolNetworks } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { PoolCidr } from '../allocation/shelf.ts';
import { blockShape } from '../set/block-set.ts';
import {
  type Cidr,
  cidrText,
  families,
  type Family,
  familyNames,
  overlaps,
  parseCidr,
  widthOf,
} from '../set/cidr.ts';

export interface PoolDefinition {
  readonly name: string;
  readonly cidrs: readonly PoolCidr[];
  /** Undefined for a family that the pool does not have. */
  readonly ipv4: PoolNetworks | undefined;
  readonly ipv6: PoolNetworks | undefined;
}

export type PoolReading =
  | { readonly kind: 'pool'; readonly pool: PoolDefinition }
  /** `why` says what to do. */
  | { readonly kind: 'invalid'; readonly why: string };

export function readPool(raw: CiliumPodIpPool): PoolReading {
  if (raw.problem !== undefined) return invalid(raw.problem);
  const { name, ipv4, ipv6 } = raw;
  if (ipv4 === undefined && ipv6 === undefined)
    return invalid('it has no network: set spec.ipv4 or spec.ipv6');
  const cidrs: PoolCidr[] = [];
  for (const family of families) {
    const wrong = addNetworks(raw, family, cidrs);
    if (wrong !== undefined) return invalid(wrong);
  }
  return { kind: 'pool', pool: { name, cidrs, ipv4, ipv6 } };
}

function invalid(why: string): PoolReading {
  return { kind: 'invalid', why };
}

/** Adds the networks of one family; returns the first thing that is wrong with them. */
function addNetworks(raw: CiliumPodIpPool, family: Family, into: PoolCidr[]): string | undefined {
  const { cidrs = [], maskSize = 0 } = raw[family] ?? {};
  const field = `spec.${family}.cidrs`;
  for (const text of cidrs) {
    const reading = parseCidr(text);
    const shown = `${JSON.stringify(text)} of ${field}`;
    if (reading.kind === 'invalid')
      return `correct or remove ${shown}, which cannot be read because ${reading.why}`;
    const { cidr } = reading;
    if (cidr.family !== family)
      return `${shown} is an ${familyNames[cidr.family]} network: move it to spec.${cidr.family}.cidrs`;
    const shape = blockShape(cidr, maskSize);
    if (shape.kind === 'invalid')
      return `${shown} cannot be divided by spec.${family}.maskSize because ${shape.why}: change one of them`;
    const other = into.find((each) => overlaps(each.cidr, cidr));
    if (other !== undefined) return `${shown} overlaps ${cidrText(other.cidr)} of the same pool: remove one`;
    into.push({ pool: raw.name, cidr, maskSize });
  }
  return undefined;
}

/** The ends of blocks, as the list of a node has them for a pool that allows them; agents take them from there. */
export function listedEnds(pool: PoolDefinition | undefined): JsonObject {
  const { allowFirstIp, allowLastIp } = pool?.ipv4 ?? pool?.ipv6 ?? withoutEnds;
  return { ...(allowFirstIp && { allowFirstIP: true }), ...(allowLastIp && { allowLastIP: true }) };
}

const withoutEnds = { allowFirstIp: false, allowLastIp: false };

/** How many addresses of a block pods get: agents keep the first and the last one, unless the pool allows them. */
export function usableAddresses(
  { family, length }: Pick<Cidr, 'family' | 'length'>,
  { allowFirstIp, allowLastIp }: Pick<PoolNetworks, 'allowFirstIp' | 'allowLastIp'> = withoutEnds,
): number {
  const size = 2 ** (widthOf[family] - length);
  return size <= 2 ? size : size - (allowFirstIp ? 0 : 1) - (allowLastIp ? 0 : 1);
}
