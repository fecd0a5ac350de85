// What the command max-pods prints as text. Pure.
import { type Line, table, told } from '../status/text-table.ts';
import { isKnown, type TypeCapacity } from './pod-capacity.ts';

export function capacityLines(
  capacities: readonly TypeCapacity[],
  width: number | undefined,
): readonly Line[] {
  const known = capacities.filter(isKnown);
  return [
    ...table(known, width, {
      columns: [
        ['TYPE', ({ type }) => type],
        ['INTERFACES', ({ interfaces }) => interfaces, 1],
        ['ADDRESSES EACH', ({ addressesPerInterface }) => addressesPerInterface, 2],
        ['PREFIXES', ({ prefixes }) => (prefixes ? 'yes' : 'no'), 3],
        ['POD ADDRESSES', ({ podAddresses }) => podAddresses],
        ['MAX PODS', ({ maxPods }) => maxPods],
      ],
      style: () => undefined,
    }),
    ...capacities.flatMap((each) => (isKnown(each) ? [] : told(each.type, each.problem, width, 'bad'))),
  ];
}
