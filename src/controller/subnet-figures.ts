// What is told of subnets: what they have left, as it is counted on now.
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { SubnetLedger } from '../providers/subnet-ledger.ts';

export interface SubnetFigures {
  readonly id: string;
  readonly zone: string;
  readonly cidr: string;
  readonly free: number;
  readonly reserved: number;
  readonly exhausted: boolean;
  /** It said a short while ago that it has too few whole blocks for prefixes. */
  readonly fragmented: boolean;
}

/** Of every known subnet. `now` is monotonic. */
export function subnetFigures(
  { subnets }: Infrastructure,
  ledger: SubnetLedger,
  now: number,
): readonly SubnetFigures[] {
  const aside = ledger.setAside(now);
  return [...subnets.values()].map(({ id, zone, cidr }) => ({
    id,
    zone,
    cidr,
    free: ledger.free(id, now),
    reserved: ledger.reserved(id),
    exhausted: aside.has(id),
    fragmented: ledger.mostPrefixes(id, now) < Infinity,
  }));
}
