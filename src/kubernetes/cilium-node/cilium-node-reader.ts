// Reads a CiliumNode as the API server sends it. It never throws. An invalid instance, demand or setting blocks the
// node; an invalid map entry is only skipped.
import type * as z from 'zod';
import type { CiliumNode, CiliumNodeStatus } from './cilium-node.ts';
import { oversizeProblems } from './cilium-node-bounds.ts';
import { isTextOrNothing, readEnis, readPool, readReleases, readUsed } from './cilium-node-entries.ts';
import { type CiliumNodeFields, ciliumNodeSchema } from './cilium-node-schema.ts';
import { isIgnored } from './cilium-node-blocks.ts';
import { type FieldPath, type FieldProblem, FieldProblems } from './field-problem.ts';
import { isObject, type JsonObject, textAt, valueAt } from '../transport/json.ts';
import { PatchBase } from './patch-base.ts';

export type CiliumNodeReading =
  | { readonly kind: 'node'; readonly node: CiliumNode }
  | {
      readonly kind: 'unreadable';
      readonly name: string | undefined;
      readonly uid: string | undefined;
      /** The owner asks us to ignore this node, so its problems are not reported. */
      readonly ignored: boolean;
      readonly problems: readonly FieldProblem[];
    };

export function readCiliumNode(raw: unknown): CiliumNodeReading {
  const object = isObject(raw) ? raw : {};
  const oversize = oversizeProblems(object);
  if (oversize.length > 0) return unreadable(object, oversize);
  const parsed = ciliumNodeSchema.safeParse(raw);
  if (parsed.success) return { kind: 'node', node: nodeOf(parsed.data, object) };
  return unreadable(object, problemsOf(parsed.error.issues, raw));
}

function unreadable(object: JsonObject, problems: readonly FieldProblem[]): CiliumNodeReading {
  return {
    kind: 'unreadable',
    name: textAt(object, 'metadata', 'name'),
    uid: textAt(object, 'metadata', 'uid'),
    ignored: isIgnored(object),
    problems,
  };
}

function nodeOf({ metadata, spec, status }: CiliumNodeFields, raw: JsonObject): CiliumNode {
  const problems = new FieldProblems();
  const { ipam } = spec;
  const pool = readPool(ipam.pool ?? {}, problems);
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp,
    deleting: metadata.deletionTimestamp !== undefined,
    ignored: isIgnored(raw),
    nodeUid: metadata.ownerReferences?.find(({ kind }) => kind === 'Node')?.uid,
    instanceId: spec['instance-id'] ?? spec.eni?.instanceId,
    ipam: { ...ipam.settings, pool },
    eni: spec.eni?.section,
    status: statusOf(status, raw, problems),
    base: new PatchBase(raw, pool),
    warnings: problems.list,
  };
}

function statusOf(
  status: CiliumNodeFields['status'],
  raw: JsonObject,
  problems: FieldProblems,
): CiliumNodeStatus {
  return {
    used: readUsed(status?.ipam?.used ?? {}, problems),
    releaseIps: readReleases(status?.ipam?.['release-ips'] ?? {}, problems),
    eni: readEnis(status?.eni?.enis ?? {}, problems),
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

function problemsOf(issues: readonly z.core.$ZodIssue[], raw: unknown): readonly FieldProblem[] {
  const problems = new FieldProblems();
  for (const { path, message } of issues) {
    const fields = path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    problems.add(fields, foundAt(raw, fields), message);
  }
  return problems.list;
}

function foundAt(raw: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as Record<string | number, unknown>)[part];
  }, raw);
}
