// A member of interfaces in the status that somebody writes and Headwater does not: it stays as long as its interface.
import type { Change } from '../../../src/simulator/kubernetes/storage/change.ts';
import { type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';

/** The schema has it. */
export const othersMember = { name: 'availability-zone', text: 'of-somebody-else' } as const;

/** Interfaces that a write leaves without the member that they had. */
export function interfacesWithoutMember({ object, previous, kind }: Change): readonly string[] {
  if (kind !== 'MODIFIED') return [];
  const { name, text } = othersMember;
  const after = enisOf(object);
  return Object.entries(enisOf(previous))
    .filter(([id, item]) => textAt(item, name) === text && after[id] !== undefined)
    .filter(([id]) => textAt(after[id], name) !== text)
    .map(([id]) => id);
}

/** The interfaces of a status, by id. */
export function enisOf(node: JsonObject | undefined): JsonObject {
  return objectAt(node, 'status', 'eni', 'enis');
}
