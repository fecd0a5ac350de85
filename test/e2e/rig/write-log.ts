// Every write of CiliumNodes or Nodes, and of Leases, that the API server has accepted, from its own audit log: who, when, and the
// object after it.
import { readFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  textAt,
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
  const versionOf = ({ object }: LoggedWrite): number =>
    Number(textAt(object, 'metadata', 'resourceVersion'));
  return all
    .toSorted((a, b) => versionOf(a) - versionOf(b))
    .flatMap((write) => {
      const before = last.get(write.node);
      const after = JSON.stringify(othersOf(write.object, own));
      last.set(write.node, after);
      return byHeadwater(write) && before !== after ? [`${write.node}: ${before} became ${after}`] : [];
    });
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
