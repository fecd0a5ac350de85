// Which agents do not give out addresses that they are shown, although pods wait: the judgement of the controller. Pure.
import { untakenCondition } from '../../node/conditions/agent-condition.ts';
import { untakenAddresses, untakenFor } from '../../node/conditions/untaken-addresses.ts';
import { protocolOf, usedAddresses, watermarksOf } from '../../node/demand/demand.ts';
import { neededAddresses } from '../../node/demand/statistics.ts';
import { addressesOn } from '../../providers/contract/shown-interfaces.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { ownersOfUsed } from '../../kubernetes/cilium-node/cilium-node-entries.ts';
import { readIdentity } from '../../kubernetes/object-identity.ts';
import { type JsonObject, listAt, textAt } from '../../runtime/json.ts';
import { waitsOn } from '../../kubernetes/watch/pending-pods.ts';
import type { AskingNode } from './cloud-facts.ts';
import { type Finding, rowPerText, rowsAbout } from './finding.ts';

/** A pod that has a node, and no address yet. */
export interface WaitingPod {
  /** `namespace/name`. */
  readonly name: string;
  readonly node: string;
  /** When it got its node, by the clock of the API server, in ms. */
  readonly since: number;
}

/** Undefined if it waits for no address. */
export function waitingPod(raw: JsonObject): WaitingPod | undefined {
  const { node } = waitsOn(raw);
  if (node === undefined) return undefined;
  const { name, createdAt } = readIdentity(raw);
  const scheduled = listAt(raw, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === 'PodScheduled',
  );
  const at = Date.parse(textAt(scheduled, 'lastTransitionTime') ?? '');
  const since = Number.isNaN(at) ? createdAt : at;
  return { name: `${textAt(raw, 'metadata', 'namespace') ?? ''}/${name}`, node, since };
}

/**
 * Nodes on which pods have waited for so long that their agents should have given them addresses. `ciliumNodes`: as they were
 * read; they name the pods that have one already. `now`: wall clock, in ms.
 */
export function nodesThatWait(
  nodes: readonly AskingNode[],
  ciliumNodes: readonly JsonObject[],
  pods: readonly WaitingPod[],
  now: number,
): readonly AskingNode[] {
  const byNode = Map.groupBy(pods, ({ node }) => node);
  const served = new Map(
    ciliumNodes.flatMap((raw) => {
      const { name } = readIdentity(raw);
      return byNode.has(name) ? [[name, new Set(ownersOfUsed(raw))] as const] : [];
    }),
  );
  return nodes.filter(({ name, object }) => {
    const before = now - untakenFor[protocolOf(object)];
    const waiting = byNode.get(name) ?? [];
    return waiting.some((pod) => pod.since <= before && served.get(name)?.has(pod.name) !== true);
  });
}

/** `waiting`: nodes on which pods wait for long. `interfaces`: by instance, as far as they were read. */
export function untakenFindings(
  waiting: readonly AskingNode[],
  interfaces: ReadonlyMap<string, readonly NetworkInterface[]>,
): readonly Finding[] {
  const found = waiting.flatMap(({ name, instanceId, object, requirements }) => {
    const held = interfaces.get(instanceId);
    if (held === undefined || isStarting(object)) return [];
    const untaken = untakenAddresses(object, { interfaces: held }, requirements);
    return untaken === undefined ? [] : [{ name, text: untakenCondition(untaken).message }];
  });
  return rowPerText(found, 'node', (text, names) =>
    rowsAbout('agents').warning(`that of ${names} does not take what it is shown: ${text}`),
  );
}

/** It may hold addresses that it has not reported, and wait for those that are still to come. */
function isStarting(object: AskingNode['object']): boolean {
  const available = Math.max(object.ipam.pool.size, addressesOn(object.status.interfaces).length);
  const usage = { available, used: usedAddresses(object), pendingPods: 0 };
  return usage.used === 0 && neededAddresses(usage, watermarksOf(object, 0)) > 0;
}
