// Finds the operation of a request by its method and path; case does not count in literal parts.
import type { ArmOperation, PathNames } from './arm-call.ts';
import { computeOperations } from './compute-operations.ts';
import { networkOperations } from './network-operations.ts';
import { operationOperations } from './operation-answers.ts';
import { resourceOperations } from './resource-operations.ts';

export const allOperations: readonly ArmOperation[] = [
  ...computeOperations,
  ...networkOperations,
  ...operationOperations,
  ...resourceOperations,
];

interface Route {
  readonly operation: ArmOperation;
  readonly parts: readonly string[];
}

const byLength = new Map<number, Route[]>();
for (const operation of allOperations) {
  const parts = operation.route.toLowerCase().split('/');
  const routes = byLength.get(parts.length) ?? [];
  byLength.set(parts.length, [...routes, { operation, parts: operation.route.split('/') }]);
}

export interface Routed {
  readonly operation: ArmOperation;
  readonly names: PathNames;
}

/** The operation of a request; `other` if the path exists with another method only. */
export function routeOf(method: string, path: string): Routed | 'other' | undefined {
  const parts = path.split('/');
  let found: Routed | 'other' | undefined;
  for (const route of byLength.get(parts.length) ?? []) {
    const names = namesIn(route.parts, parts);
    if (names === undefined) continue;
    if (route.operation.method === method) return { operation: route.operation, names };
    found = 'other';
  }
  return found;
}

function namesIn(route: readonly string[], path: readonly string[]): PathNames | undefined {
  const names: Record<string, string> = {};
  for (const [index, part] of route.entries()) {
    const given = path[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part.toLowerCase() !== given.toLowerCase()) return undefined;
    } else if (given === '') return undefined;
    else names[name] = decodeURIComponent(given);
  }
  return names;
}
