// Every write of CiliumNodes that the API server has accepted, from its own audit log: who, when, and the object after it.
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

const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: RequestResponse
    omitManagedFields: true
    verbs: [create, update, patch]
    resources: [{ group: cilium.io, resources: [ciliumnodes, ciliumnodes/status] }]
  - level: None
`;

export class WriteLog {
  /** For the API server. */
  readonly flags: readonly string[];
  readonly #path: string;

  constructor(directory: string) {
    const policyFile = join(directory, 'audit-policy.yaml');
    writeFileSync(policyFile, policy);
    this.#path = join(directory, 'audit.log');
    this.flags = [`--audit-policy-file=${policyFile}`, `--audit-log-path=${this.#path}`];
  }

  /** In the order of the API server's answers. */
  async read(): Promise<readonly LoggedWrite[]> {
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

/** What Headwater may write of a spec and of a status; of the cloud's section: all of it. */
const ours = {
  spec: ['pool', 'pre-allocate'],
  status: ['release-ips', 'operator-status', 'assigned-static-ip'],
};

/** Where one of its writes changed more of an object than what is its own: the node, with before and after. */
export function changedByHeadwater(
  all: readonly LoggedWrite[],
  isIts: (write: LoggedWrite) => boolean,
  section: string,
): readonly string[] {
  const last = new Map<string, string>();
  const versionOf = ({ object }: LoggedWrite): number =>
    Number(textAt(object, 'metadata', 'resourceVersion'));
  return all
    .toSorted((a, b) => versionOf(a) - versionOf(b))
    .flatMap((write) => {
      const before = last.get(write.node);
      const after = JSON.stringify(othersOf(write.object, section));
      last.set(write.node, after);
      return isIts(write) && before !== after ? [`${write.node}: ${before} became ${after}`] : [];
    });
}

function othersOf(object: JsonObject, section: string): readonly unknown[] {
  const without = (value: JsonObject, names: readonly string[]): readonly unknown[] =>
    Object.entries(value).filter(([name]) => !names.includes(name));
  return [
    without(objectAt(object, 'spec'), ['ipam']),
    without(objectAt(object, 'spec', 'ipam'), ours.spec),
    without(objectAt(object, 'status'), ['ipam', section]),
    without(objectAt(object, 'status', 'ipam'), ours.status),
  ];
}
