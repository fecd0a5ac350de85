// Reads a CiliumNode as the API server sends it. It never throws. An invalid instance, demand or setting blocks the
// node; an invalid map entry is only skipped.
import type * as z from 'zod';
import type {
  CiliumNodeSection,
  SectionReading,
  SectionRequirements,
  ShownInterfaces,
} from '../../providers/contract/cilium-node-section.ts';
import type { CiliumNode, CiliumNodeStatus, NodeReference } from './cilium-node.ts';
import { oversizeProblems } from './cilium-node-bounds.ts';
import { isTextOrNothing, readPool, readReleases, readUsed } from './cilium-node-entries.ts';
import { type CiliumNodeFields, ciliumNodeSchema, countWording, readCount } from './cilium-node-schema.ts';
import { isIgnored, isKept } from '../object-identity.ts';
import { type FieldPath, type FieldProblem, FieldProblems } from './field-problems.ts';
import { isObject, type JsonObject, listAt, textAt, valueAt } from '../../runtime/json.ts';
import { PatchBase } from './patch-base.ts';

export type CiliumNodeReading =
  | { readonly kind: 'node'; readonly node: CiliumNode }
  | {
      readonly kind: 'unreadable';
      /** Empty if unreadable. */
      readonly name: string;
      /** The same. */
      readonly uid: string;
      /** The owner asks on this object that it is ignored, so its problems are not reported. */
      readonly ignored: boolean;
      readonly problems: readonly FieldProblem[];
    };

export function readCiliumNode(raw: unknown, section: CiliumNodeSection): CiliumNodeReading {
  const object = isObject(raw) ? raw : {};
  const oversize = oversizeProblems(object, section.bounds);
  if (oversize.length > 0) return unreadable(object, oversize);
  const problems = new FieldProblems();
  const parsed = ciliumNodeSchema.safeParse(raw);
  if (!parsed.success) addIssues(problems, parsed.error.issues, raw);
  const read = readSection(section, object, problems);
  if (!parsed.success || read === undefined) return unreadable(object, problems.list);
  return { kind: 'node', node: nodeOf(parsed.data, object, read) };
}

interface ReadSection {
  readonly key: string;
  readonly requirements: SectionRequirements;
  readonly interfaces: ShownInterfaces;
  /** Invalid entries, to which those outside the section are added. */
  readonly skipped: FieldProblems;
}

/** Undefined if a problem blocks the node. */
function readSection(
  section: CiliumNodeSection,
  raw: JsonObject,
  problems: FieldProblems,
): ReadSection | undefined {
  const { key } = section;
  const skipped = new FieldProblems();
  const asked = section.requirements(valueAt(raw, 'spec', key));
  const shown = section.shown(valueAt(raw, 'status', key), (path, found, accepted) =>
    skipped.add(['status', key, ...path], found, accepted),
  );
  addProblems(problems, asked, ['spec', key], raw);
  addProblems(problems, shown, ['status', key], raw);
  if (!('value' in asked && 'value' in shown)) return undefined;
  return { key, requirements: asked.value, interfaces: shown.value, skipped };
}

function addProblems(
  problems: FieldProblems,
  reading: SectionReading<unknown>,
  at: FieldPath,
  raw: JsonObject,
): void {
  if ('value' in reading) return;
  for (const { path, accepted } of reading.problems) {
    const fields = [...at, ...path];
    problems.add(fields, foundAt(raw, fields), accepted);
  }
}

function unreadable(object: JsonObject, problems: readonly FieldProblem[]): CiliumNodeReading {
  return {
    kind: 'unreadable',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    ignored: isIgnored(object),
    problems,
  };
}

function nodeOf(
  { metadata, spec, status }: CiliumNodeFields,
  raw: JsonObject,
  { key, requirements, interfaces, skipped }: ReadSection,
): CiliumNode {
  const { ipam } = spec;
  const pool = readPool(ipam.pool ?? {}, skipped);
  addIpv6Demands(raw, skipped);
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp,
    deleting: metadata.deletionTimestamp !== undefined,
    ignored: isIgnored(raw),
    ...(((metadata.ownerReferences?.length ?? 0) > 0 || isKept(raw)) && { spared: true }),
    nodeUid: metadata.ownerReferences?.find(({ kind }) => kind === 'Node')?.uid,
    instanceId: spec['instance-id'] ?? requirements.instanceId,
    ipam: { ...ipam.settings, pool },
    section: requirements,
    status: { ...statusOf(status, raw, skipped), interfaces },
    base: new PatchBase(raw, pool, key),
    warnings: skipped.list,
  };
}

function addIpv6Demands(raw: JsonObject, problems: FieldProblems): void {
  for (const [index, entry] of listAt(raw, ...requestedPath).entries()) {
    const found = valueAt(entry, 'needed', 'ipv6-addrs');
    if (readCount(found) !== undefined) continue;
    problems.add([...requestedPath, index, 'needed', 'ipv6-addrs'], found, countWording);
  }
}

const requestedPath = ['spec', 'ipam', 'pools', 'requested'];

function statusOf(
  status: CiliumNodeFields['status'],
  raw: JsonObject,
  problems: FieldProblems,
): Omit<CiliumNodeStatus, 'interfaces'> {
  return {
    used: readUsed(status?.ipam?.used ?? {}, problems),
    releaseIps: readReleases(status?.ipam?.['release-ips'] ?? {}, problems),
    assignedStaticIp: statusText(raw, ['status', 'ipam', 'assigned-static-ip'], problems),
    operatorError: statusText(raw, ['status', 'ipam', 'operator-status', 'error'], problems),
  };
}

function statusText(raw: JsonObject, path: readonly string[], problems: FieldProblems): string | undefined {
  const value = valueAt(raw, ...path);
  if (isTextOrNothing(value)) return value || undefined;
  problems.add(path, value, 'a text');
  return undefined;
}

function addIssues(problems: FieldProblems, issues: readonly z.core.$ZodIssue[], raw: unknown): void {
  for (const { path, message } of issues) {
    const fields = path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    problems.add(fields, foundAt(raw, fields), message);
  }
}

function foundAt(raw: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as Record<string | number, unknown>)[part];
  }, raw);
}

/** The part of every CiliumNode, readable or not, that stays in memory. `labels`: where they decide whether it is ours. */
export type WatchedNode = CiliumNodeReading & { readonly labels?: Readonly<Record<string, string>> };

export function nameOf(watched: WatchedNode): string {
  return watched.kind === 'node' ? watched.node.name : watched.name;
}

export function referenceTo(watched: WatchedNode): NodeReference {
  return watched.kind === 'node'
    ? watched.node
    : { name: watched.name, uid: watched.uid, nodeUid: undefined };
}
