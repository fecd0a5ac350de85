// Addresses that reservations keep from nodes in the subnets that are full or nearly so. Pure.
import type { Infrastructure, SubnetReservation } from '../../providers/contract/infrastructure.ts';
import { parseBlock, sizeOf } from '../../providers/contract/ipv4.ts';
import type { ReadReservations } from './cloud-facts.ts';
import { type Finding, rowOnAny, rowsAbout } from './finding.ts';

const rows = rowsAbout('reservations');

const purposes = {
  prefixes: 'for prefixes',
  namedAddresses: 'for addresses that a request names',
} as const satisfies Record<SubnetReservation['use'], string>;

/** `tight`: subnets with little room that nodes choose, and whether some of these nodes get prefixes. */
export function reservationFindings(
  { read, unasked }: ReadReservations,
  tight: ReadonlyMap<string, { readonly prefixes: boolean }>,
  { subnets }: Infrastructure,
): readonly Finding[] {
  const reserved = [...read].flatMap(([id, answer]) =>
    answer.kind !== 'read' || answer.value.length === 0
      ? []
      : rowOf(id, subnets.get(id)?.freeAddresses ?? 0, answer.value, tight.get(id)?.prefixes === true),
  );
  const failed = [...read.values()].find((answer) => answer.kind === 'failed');
  return [
    ...reserved,
    ...(failed === undefined
      ? []
      : [
          rows.ok(
            `not known: ${failed.failure.action} failed: ${failed.failure.code}${failed.remedy === undefined ? '' : `: ${failed.remedy}`}`,
          ),
        ]),
    ...rowOnAny(unasked, 'subnet', (names) => rows.ok(`not asked of ${names}: each takes a call`)),
  ];
}

/** Reserved prefixes serve nodes that get prefixes; everything else that is reserved serves none. */
function rowOf(
  id: string,
  free: number,
  reservations: readonly SubnetReservation[],
  getPrefixes: boolean,
): readonly Finding[] {
  const blocks = reservations.flatMap(({ cidr }) => parseBlock(cidr) ?? []);
  const size = blocks.reduce((sum, block) => sum + sizeOf(block), 0);
  const first = ({ cidr }: SubnetReservation): number => parseBlock(cidr)?.first ?? 0;
  const inOrder = reservations.toSorted((a, b) => first(a) - first(b));
  const list = inOrder.map(({ cidr, use }) => `${cidr} ${purposes[use]}`).join(', ');
  const found = `beside ${free} free addresses, ${id} has ${size} that are reserved: ${list}`;
  const isKept = reservations.some(({ use }) => use === 'namedAddresses' || !getPrefixes);
  const remedy =
    'delete the reservation if it is not needed: no interface gets an address there without naming it, and only nodes with prefix delegation get prefixes';
  return [isKept ? rows.warning(found, remedy) : rows.ok(found)];
}
