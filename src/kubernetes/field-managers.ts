// Who wrote a field last, as the API server notes it in `metadata.managedFields`, and which of these programs do what Headwater
// does.
import { isList, type Json, type JsonObject, memberOf, textAt, valueAt } from '../runtime/json.ts';
import { userAgent } from './transport/transport.ts';

/** The field manager that last wrote at or below `path`; undefined where it is us, or not recorded. */
export function lastManagerOf(raw: JsonObject, ...path: readonly string[]): string | undefined {
  return lastWriteOf(raw, path)?.manager;
}

/**
 * When a block allocator other than Headwater last wrote at or below `path`, by the wall clock of the API server: the start of a
 * second, in ms. Undefined if another program wrote there last.
 */
export function allocatorWroteAt(raw: JsonObject, ...path: readonly string[]): number | undefined {
  const last = lastWriteOf(raw, path);
  return isBlockAllocator(last?.manager) ? last?.at : undefined;
}

interface NotedWrite {
  readonly manager: string | undefined;
  readonly at: number;
}

/** Undefined where it is ours, or not recorded. */
function lastWriteOf(raw: JsonObject, path: readonly string[]): NotedWrite | undefined {
  const noted = valueAt(raw, 'metadata', 'managedFields');
  if (!isList(noted)) return undefined;
  const fields = path.map((member) => `f:${member}`);
  const writers = noted.filter((entry) => valueAt(memberOf(entry, 'fieldsV1'), ...fields) !== undefined);
  const latest = Math.max(...writers.map(timeOf));
  // Times are to the second: within one, others count.
  return writers
    .filter((entry) => timeOf(entry) === latest)
    .map((entry) => ({ manager: textAt(entry, 'manager'), at: latest }))
    .find(({ manager }) => manager?.startsWith(userAgent) !== true);
}

function timeOf(entry: Json): number {
  const time = Date.parse(textAt(entry, 'time') ?? '');
  return Number.isNaN(time) ? -Infinity : time;
}

/** A cilium-operator, of any cloud. */
export function isOperator(manager: string | undefined): boolean {
  return manager?.startsWith('cilium-operator') === true;
}

/** Controller managers of Kubernetes and of clouds give Nodes their pod CIDRs. */
const nodeAllocators = ['kube-controller-manager', 'node-ipam-controller', 'cloud-controller-manager'];

/** Whether this program allocates blocks to CiliumNodes or Nodes. One write proves it: it goes on writing. */
export function isBlockAllocator(manager: string | undefined): boolean {
  return isOperator(manager) || nodeAllocators.some((name) => manager?.endsWith(name) === true);
}
