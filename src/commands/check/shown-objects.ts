// The parts of Nodes and CiliumNodes that the command check judges. Pure.
import { isOperator } from '../../kubernetes/field-managers.ts';
import { admittedPods, isIgnored, readIdentity } from '../../kubernetes/object-identity.ts';
import { type JsonObject, listAt, memberOf, textAt, valueAt } from '../../runtime/json.ts';
import { internalAddresses } from '../../kubernetes/watch/cluster-nodes.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';

export interface ShownNode {
  readonly name: string;
  /** The instance that its provider ID names in the cloud's form; undefined if it has none, or of another cloud. */
  readonly instanceId: string | undefined;
  readonly providerId: string;
  /** Pods that its kubelet admits; undefined before it says so. */
  readonly podCapacity: number | undefined;
  readonly isIgnored: boolean;
  /** InternalIPs of the Node, of IPv4. */
  readonly addresses: readonly string[];
}

export interface ShownCiliumNode {
  readonly name: string;
  readonly instanceId: string | undefined;
  /** The last writes of parts that only one program may write, without those of agents, which write a status back as a whole. */
  readonly writes: readonly ShownWrite[];
}

export interface ShownWrite {
  /** The field manager. */
  readonly manager: string;
  readonly part: string;
  /** By the clock of the API server, in ms. */
  readonly at: number;
}

/** `instanceIdOf`: undefined if the provider ID names no instance of the cloud. */
export function shownNode(
  raw: JsonObject,
  instanceIdOf: (providerId: string) => string | undefined,
): ShownNode {
  const providerId = textAt(raw, 'spec', 'providerID') ?? '';
  return {
    name: sanitizedText(readIdentity(raw).name),
    instanceId: instanceIdOf(providerId),
    providerId: sanitizedText(providerId),
    podCapacity: admittedPods(raw),
    isIgnored: isIgnored(raw),
    addresses: internalAddresses(raw),
  };
}

/** `section`: of the cloud, in spec and status. */
export function shownCiliumNode(raw: JsonObject, section: string): ShownCiliumNode {
  const parts = [
    ['spec', 'ipam', 'pool'],
    ['status', section],
  ];
  return {
    name: sanitizedText(readIdentity(raw).name),
    instanceId: textAt(raw, 'spec', 'instance-id') ?? textAt(raw, 'spec', section, 'instance-id'),
    writes: parts.flatMap((path) => writesOf(raw, path)).filter(isNoAgents(raw)),
  };
}

/** Written by the agent of the node alone. */
const partsOfAgents = [
  ['spec', 'instance-id'],
  ['status', 'ipam', 'used'],
];

/** A program that writes what only agents write is one, until it writes pools. */
function isNoAgents(raw: JsonObject): (write: ShownWrite) => boolean {
  const agents = new Set(partsOfAgents.flatMap((path) => writesOf(raw, path)).map(({ manager }) => manager));
  return ({ manager, part }) => {
    if (isOperator(manager)) return true;
    return !manager.startsWith('cilium-agent') && (part.startsWith('spec.') || !agents.has(manager));
  };
}

/** `path`: of the list of blocks, which agents shorten. */
export function shownBlockNode(raw: JsonObject, path: readonly string[]): ShownCiliumNode {
  const writes = writesOf(raw, path).filter(({ manager }) => !manager.startsWith('cilium-agent'));
  return { name: sanitizedText(readIdentity(raw).name), instanceId: undefined, writes };
}

function writesOf(raw: JsonObject, path: readonly string[]): readonly ShownWrite[] {
  const fields = path.map((member) => `f:${member}`);
  return listAt(raw, 'metadata', 'managedFields').flatMap((entry) => {
    if (valueAt(memberOf(entry, 'fieldsV1'), ...fields) === undefined) return [];
    const at = Date.parse(textAt(entry, 'time') ?? '');
    const manager = sanitizedText(textAt(entry, 'manager') ?? '', 100);
    return Number.isNaN(at) ? [] : [{ manager, part: path.join('.'), at }];
  });
}
