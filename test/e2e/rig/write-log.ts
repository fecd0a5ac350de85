// Every write of CiliumNodes or Nodes, and of Leases, that the API server has accepted, from its own audit log: who, when, and the
// object after it.
import { readFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isObject,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  parseObject,
  textAt,
  textsAt,
  valueAt,
} from '../../../src/simulator/workload/json.ts';

export interface LoggedWrite {
  /** Wall-clock ms, by the API server. */
  readonly at: number;
  /** `system:serviceaccount:kube-system:headwater`. */
  readonly user: string;
  /** The name of the program, before the slash. */
  readonly program: string;
  readonly node: string;
  readonly object: JsonObject;
}

export const byHeadwater = ({ user }: LoggedWrite): boolean => user.endsWith(':headwater');

const groups = { ciliumnodes: 'cilium.io', nodes: '""' } as const;

function policyOf(resource: keyof typeof groups): string {
  return `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: RequestResponse
    omitManagedFields: true
    verbs: [create, update, patch]
    resources:
      - { group: ${groups[resource]}, resources: [${resource}, ${resource}/status] }
      - { group: coordination.k8s.io, resources: [leases] }
  - level: None
`;
}

export class WriteLog {
  /** For the API server. */
  readonly flags: readonly string[];
  readonly #path: string;

  constructor(directory: string, resource: keyof typeof groups) {
    const policyFile = join(directory, 'audit-policy.yaml');
    writeFileSync(policyFile, policyOf(resource));
    this.#path = join(directory, 'audit.log');
    this.flags = [`--audit-policy-file=${policyFile}`, `--audit-log-path=${this.#path}`];
  }

  /** In the order of the API server's answers, without those of Leases. */
  async read(): Promise<readonly LoggedWrite[]> {
    return (await this.#all()).filter(({ object }) => !isLease(object));
  }

  /** The wall-clock times of its writes since then, in order. */
  async timesOf(isIts: (write: LoggedWrite) => boolean, since: number): Promise<readonly number[]> {
    return timesIn(await this.read(), isIts, since);
  }

  /**
   * For how long Headwater wrote beside others from `since` to `until`: from the first write of the later one to its own last one,
   * in renewals of its Lease, which it makes each second. A busy machine delays both alike. NaN if the others wrote nothing.
   */
  async bothWrote(
    isOthers: (write: LoggedWrite) => boolean,
    since: number,
    until = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    const all = await this.#all();
    const writes = all.filter(({ object }) => !isLease(object));
    const [others] = timesIn(writes, isOthers, since);
    if (others === undefined) return Number.NaN;
    const ours = timesIn(writes, byHeadwater, since).filter((at) => at < until);
    const began = Math.max(others, ours[0] ?? 0);
    const renewals = timesIn(
      all.filter(({ object }) => isLease(object)),
      byHeadwater,
      began,
    );
    return renewals.filter((at) => at < (ours.at(-1) ?? 0)).length;
  }

  async #all(): Promise<readonly LoggedWrite[]> {
    const lines = (await readFile(this.#path, 'utf8')).split('\n').slice(0, -1);
    return lines.map(parseObject).flatMap((event) => {
      const object = event['responseObject'];
      if (numberAt(event, 'responseStatus', 'code') >= 300 || !isObject(object)) return [];
      return {
        at: Date.parse(textAt(event, 'stageTimestamp')),
        user: textAt(event, 'user', 'username'),
        program: textAt(event, 'userAgent').split('/')[0] ?? '',
        node: textAt(objectAt(event, 'objectRef'), 'name') || textAt(object, 'metadata', 'name'),
        object,
      };
    });
  }
}

const isLease = (object: JsonObject): boolean => textAt(object, 'kind') === 'Lease';

function timesIn(
  all: readonly LoggedWrite[],
  isIts: (write: LoggedWrite) => boolean,
  since: number,
): readonly number[] {
  return all
    .filter((write) => write.at >= since && isIts(write))
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
}

/** Fields that Headwater may write, by where it stands. */
export interface OwnFields {
  readonly spec?: readonly string[];
  /** In `spec.ipam`. */
  readonly ipam?: readonly string[];
  readonly status?: readonly string[];
  /** In `status.ipam`. */
  readonly statusIpam?: readonly string[];
}

/** Where one of its writes changed more of an object than what is its own: the node, with before and after. */
export function changedByHeadwater(all: readonly LoggedWrite[], own: OwnFields): readonly string[] {
  const last = new Map<string, string>();
  return inOrder(all).flatMap((write) => {
    const before = last.get(write.node);
    const after = JSON.stringify(othersOf(write.object, own));
    last.set(write.node, after);
    return byHeadwater(write) && before !== after ? [`${write.node}: ${before} became ${after}`] : [];
  });
}

/** A member of each interface in a section of the status that Headwater does not write. */
export interface MemberOfOthers {
  readonly section: string;
  readonly path: readonly string[];
}

/** How often a write of Headwater left such a member of an interface as it was, and where it did not. */
export function membersOfOthers(
  all: readonly LoggedWrite[],
  member: MemberOfOthers,
): { readonly kept: number; readonly changed: readonly string[] } {
  const last = new Map<string, ReadonlyMap<string, string | undefined>>();
  const changed: string[] = [];
  let kept = 0;
  for (const write of inOrder(all)) {
    const after = membersIn(write.object, member);
    const before = [...(last.get(write.node) ?? [])].filter(([id]) => after.has(id) && byHeadwater(write));
    last.set(write.node, after);
    for (const [id, value] of before)
      if (value !== after.get(id)) changed.push(`${write.node}: ${id}: ${value} became ${after.get(id)}`);
      else if (value !== undefined) kept++;
  }
  return { kept, changed };
}

/** By interface. */
function membersIn(
  object: JsonObject,
  { section, path }: MemberOfOthers,
): ReadonlyMap<string, string | undefined> {
  const listed = listAt(object, 'status', section, 'interfaces').map(
    (item) => [textAt(item, 'id'), item] as const,
  );
  const named = Object.entries(objectAt(object, 'status', section, 'enis'));
  return new Map([...listed, ...named].map(([id, item]) => [id, JSON.stringify(valueAt(item, ...path))]));
}

/** Where a write, by Headwater or by others, took a block from an object, or gave it one of another object. */
export function misgivenBlocks(all: readonly LoggedWrite[]): readonly string[] {
  const held = new Map<string, readonly string[]>();
  const holders = new Map<string, string>();
  return inOrder(all).flatMap(({ node, program, object }) => {
    const now = blocksIn(object);
    const lost = (held.get(node) ?? []).filter((block) => !now.includes(block));
    const taken = now.filter((block) => (holders.get(block) ?? node) !== node);
    held.set(node, now);
    for (const block of now) holders.set(block, node);
    return [
      ...lost.map((block) => `${program} took ${block} from ${node}`),
      ...taken.map((block) => `${program} gave ${node} a block of another one: ${block}`),
    ];
  });
}

/** Blocks of a Node, or of a CiliumNode in whichever mode. */
function blocksIn(object: JsonObject): readonly string[] {
  const pools = listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((each) =>
    textsAt(each, 'cidrs'),
  );
  const own = [...textsAt(object, 'spec', 'podCIDRs'), ...textsAt(object, 'spec', 'ipam', 'podCIDRs')];
  return [...new Set([...own, ...pools])];
}

function inOrder(all: readonly LoggedWrite[]): readonly LoggedWrite[] {
  const versionOf = ({ object }: LoggedWrite): number =>
    Number(textAt(object, 'metadata', 'resourceVersion'));
  return all.toSorted((a, b) => versionOf(a) - versionOf(b));
}

function othersOf(object: JsonObject, { spec, ipam, status, statusIpam }: OwnFields): readonly unknown[] {
  const without = (value: JsonObject, names: readonly string[] = []): readonly unknown[] =>
    Object.entries(value).filter(([name]) => name !== 'ipam' && !names.includes(name));
  return [
    objectAt(object, 'metadata', 'labels'),
    without(objectAt(object, 'spec'), spec),
    without(objectAt(object, 'spec', 'ipam'), ipam),
    without(objectAt(object, 'status'), status),
    without(objectAt(object, 'status', 'ipam'), statusIpam),
  ];
}
