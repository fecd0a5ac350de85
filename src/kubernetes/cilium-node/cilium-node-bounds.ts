// Bounds how much of one CiliumNode is read. Every agent may write megabytes into any CiliumNode, and we keep what we
// read in memory. A CiliumNode beyond a bound is unreadable and reports it. Real nodes stay far below: an instance has
// at most 15 interfaces for pods, and a kubelet far fewer than a thousand pods. The cloud's section has its own bounds.
import type { SectionBound } from '../../providers/contract/cilium-node-section.ts';
import { FieldProblems, type FieldProblem } from './field-problems.ts';
import { isList, isObject, type Json, type JsonObject, valueAt } from '../../runtime/json.ts';

const maxAddresses = 4096;
/** Clouds allow about 50 tags on any resource. */
const maxTags = 50;

const bounds: readonly SectionBound[] = [
  { path: ['metadata', 'ownerReferences'], entries: 64, characters: 32_768 },
  { path: ['spec', 'instance-id'], characters: 1024 },
  { path: ['spec', 'ipam', 'pool'], entries: maxAddresses, characters: 524_288 },
  { path: ['spec', 'ipam', 'static-ip-tags'], entries: maxTags, characters: 32_768 },
  { path: ['spec', 'ipam', 'pools', 'requested'], entries: 64 },
  { path: ['spec', 'ipam', 'pools', 'allocated'], entries: 64 },
  { path: ['spec', 'ipam', 'pools'], characters: 262_144 },
  { path: ['status', 'ipam', 'used'], entries: maxAddresses, characters: 1_048_576 },
  { path: ['status', 'ipam', 'release-ips'], entries: maxAddresses, characters: 262_144 },
  { path: ['status', 'ipam', 'operator-status'], characters: 4096 },
  { path: ['status', 'ipam', 'assigned-static-ip'], characters: 256 },
];

/** The bounds that an object exceeds, those of its cloud's section included; empty for nearly all. */
export function oversizeProblems(
  raw: JsonObject,
  ofSection: readonly SectionBound[],
): readonly FieldProblem[] {
  const problems = new FieldProblems();
  for (const { path, entries = Infinity, characters = Infinity } of [...bounds, ...ofSection]) {
    const value = valueAt(raw, ...path);
    if (value === undefined || value === null) continue;
    const count = countOf(value);
    if (count > entries)
      problems.addProblem(path, () => `has ${count} entries, and at most ${entries} are read`);
    else if (charactersLeft(value, characters) < 0)
      problems.addProblem(path, () => `is larger than the ${characters} characters that are read`);
  }
  return problems.list;
}

function countOf(value: Json): number {
  if (isList(value)) return value.length;
  if (!isObject(value)) return 0;
  let count = 0;
  for (const _ in value) count++;
  return count;
}

/** Characters left of `max`. Negative once `value` exceeds them; then it skips the rest. */
function charactersLeft(value: Json, max: number): number {
  if (max === Infinity) return max;
  if (typeof value === 'string') return max - value.length;
  if (isList(value)) return leftAfter(value.values(), max);
  return isObject(value) ? leftAfter(membersOf(value), max) : max - 1;
}

function leftAfter(parts: Iterable<Json>, max: number): number {
  let left = max;
  for (const part of parts) {
    left = charactersLeft(part, left - 1);
    if (left < 0) break;
  }
  return left;
}

/** Yields names and values in turn, without building a list. */
function* membersOf(value: JsonObject): Generator<Json> {
  for (const name in value) {
    yield name;
    yield value[name] ?? null;
  }
}
