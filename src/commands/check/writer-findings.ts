// Who else writes what only Headwater may write, by the field managers that the API server notes. Pure.
import { isOperator } from '../../kubernetes/field-managers.ts';
import { userAgent } from '../../kubernetes/transport/transport.ts';
import { countedNames, type Finding, rowsAbout } from './finding.ts';
import type { ShownCiliumNode } from './shown-objects.ts';

const rows = rowsAbout('other writers');

/** A program that wrote within this time is taken to run still, in ms. */
const recent = 3_600_000;

/** `now`: wall clock, in ms. `parts`: what was looked at, in words. */
export function writerFindings(
  nodes: readonly ShownCiliumNode[],
  now: number,
  parts = 'pools or interfaces',
): readonly Finding[] {
  const writes = nodes.flatMap(({ name, writes: each }) => each.map((write) => ({ name, ...write })));
  const others = writes.filter(({ manager, at }) => !manager.startsWith(userAgent) && at > now - recent);
  const byManager = [...Map.groupBy(others, ({ manager }) => manager)];
  if (byManager.length === 0)
    return [rows.ok(`none wrote ${parts} of ${nodes.length} CiliumNodes in the last hour`)];
  return byManager.map(([manager, of]) => {
    const names = [...new Set(of.map(({ name }) => name))];
    const written = [...new Set(of.map(({ part }) => part))].join(' and ');
    const minutes = Math.max(0, Math.round((now - Math.max(...of.map(({ at }) => at))) / 60_000));
    const found = `${manager === '' ? 'a program without a name' : manager} wrote ${written} of ${countedNames(names, 'CiliumNode')}, last ${minutes} min ago`;
    return isOperator(manager)
      ? rows.problem(found, 'stop it before Headwater leads: both would undo the work of the other')
      : rows.warning(found, 'make sure that no other program manages these nodes');
  });
}
