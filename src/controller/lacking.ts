// What the fleet lacks that a reading of the network may show.
import type { SeatFigures } from '../manager/fleet.ts';
import type { Lacking } from '../manager/resync.ts';
import type { DiagnosisReason } from '../node/diagnosis.ts';
import type { NodeFigures } from '../node/node-figures.ts';

/** Whether the node lacks addresses. */
export function isShort({ assessment }: NodeFigures): boolean {
  return assessment.kind === 'served' && assessment.wanted > 0;
}

/** What somebody may mend in the network, where the cloud tells of it by itself at the next resync only. */
const mendable: ReadonlySet<DiagnosisReason | undefined> = new Set([
  'SubnetsExhausted',
  'NoSubnetMatches',
  'NoSecurityGroupMatches',
  'NetworkUnreadable',
] as const);

export function lackingOf(seats: readonly SeatFigures[]): Lacking {
  const short = seats.flatMap((seat) =>
    seat.kind === 'managed' && isShort(seat.figures) ? [seat.figures] : [],
  );
  if (short.some((figures) => mendable.has(figures.diagnosis?.reason))) return 'infrastructure';
  return short.length > 0 ? 'addresses' : 'nothing';
}
