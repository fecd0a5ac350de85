// What is left alone, by what it is and why, counted for the metrics.
import type { SeatFigures } from '../manager/fleet.ts';
import type { SubnetFigures } from './subnet-figures.ts';

export function setAsideSeries(
  seats: readonly SeatFigures[],
  subnets: readonly SubnetFigures[],
): (readonly [{ what: 'node' | 'interface' | 'subnet'; reason: string }, number])[] {
  const counts = new Map<string, number>();
  const add = (what: string, reason: string): void => {
    counts.set(`${what} ${reason}`, (counts.get(`${what} ${reason}`) ?? 0) + 1);
  };
  for (const seat of seats) {
    const diagnosis = seat.kind === 'managed' ? seat.figures.diagnosis : seat.diagnosis;
    if (diagnosis !== undefined) add('node', diagnosis.reason);
    const view = seat.kind === 'managed' ? seat.figures.view : undefined;
    for (const _ of view?.unreadable ?? []) add('interface', 'InterfaceUnreadable');
  }
  for (const _ of subnets.filter(({ exhausted }) => exhausted)) add('subnet', 'SubnetsExhausted');
  for (const _ of subnets.filter(({ fragmented }) => fragmented)) add('subnet', 'PrefixSpaceFragmented');
  return [...counts].map(([key, count]) => {
    const [what, reason] = key.split(' ') as ['node' | 'interface' | 'subnet', string];
    return [{ what, reason }, count] as const;
  });
}
