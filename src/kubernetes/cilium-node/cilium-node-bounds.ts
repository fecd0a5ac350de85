// Bounds how much of one CiliumNode is read. Every agent may write megabytes into any CiliumNode, and we keep what we
// read in memory. A CiliumNode beyond a bound is unreadable and reports it. Real nodes stay far below: an instance has
// at most 15 interfaces for pods, and a kubelet far fewer than a thousand pods. The cloud's section has its own bounds.
import type { SectionBound } from '../../providers/contract/cilium-node-section.ts';
import { FieldProblems, type FieldProblem } from './field-problem.ts';
import { isList, isObject, type Json, type JsonObject, valueAt } from '../transport/json.ts';

const mostAddresses = 4096;
/** Clouds allow about 50 tags on any resource. */
const mostTags = 50;

const bounds: readonly SectionBound[] = [
  { path: ['metadata', 'ownerReferences'], entries: 64, characters: 32_768 },
  { path: ['spec', 'instance-id'], characters: 1024 },
  { path: ['spec', 'ipam', 'pool'], entries: mostAddresses, characters: 524_288 },
  { path: ['spec', 'ipam', 'static-ip-tags'], entries: mostTags, characters: 32_768 },
  { path: ['spec', 'ipam', 'pools', 'requested'], entries: 64 },
  { path: ['spec', 'ipam', 'pools', 'allocated'], entries: 64 },
  { path: ['spec', 'ipam', 'pools'], characters: 262_144 },
  { path: ['status', 'ipam', 'used'], entries: mostAddresses, characters: 1_048_576 },
  { path: ['status', 'ipam', 'release-ips'], entries: mostAddresses, characters: 262_144 },
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
    if (count > entries) problems.say(path, () => `has ${count} entries, and at most ${entries} are read`);
    else if (charactersLeft(value, characters) < 0)
      problems.say(path, () => `is larger than the ${characters} characters that are read`);
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

/** Characters left of `most`. Negative once `value` exceeds them; then it skips the rest. */
function charactersLeft(value: Json, most: number): number {
  if (most === Infinity) return most;
  if (typeof value === 'string') return most - value.length;
  if (isList(value)) return leftAfter(value.values(), most);
  return isObject(value) ? leftAfter(membersOf(value), most) : most - 1;
}

function leftAfter(parts: Iterable<Json>, most: number): number {
  let left = most;
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
