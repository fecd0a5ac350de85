// Which other releases of a cluster a list of Leases shows, and which Nodes one of them chooses.
import { type NodeSelector, parseNodeSelector } from '../config/node-selector.ts';
import { readIdentity } from '../kubernetes/object-identity.ts';
import { ask, type Reply } from '../kubernetes/transport/api-reply.ts';
import { unlistedNodes } from '../kubernetes/watch/cluster-nodes.ts';
import { itemsOf } from '../kubernetes/watch/listing.ts';
import { type JsonObject, textAt } from '../runtime/json.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import type { ModeDeps } from './host.ts';
import type { OtherRelease } from './node-scope.ts';

/** `served`: releases that serve other objects get along. The text is empty where every node is chosen. */
export function selectorAnnotation(served: 'CiliumNodes' | 'Nodes'): string {
  return `headwater/selects-${served.toLowerCase()}`;
}

/** Set while younger releases may not have seen our selector: that of the leader before, for the next one. */
export function formerAnnotation(served: 'CiliumNodes' | 'Nodes'): string {
  return `headwater/selected-${served.toLowerCase()}`;
}

/** The former leader is not known to have chosen any node. No selector reads like that. */
export const noNode = '!';

export interface FoundRelease extends OtherRelease {
  /** Whether a process leads it, or did so when it was killed. */
  readonly isHeld: boolean;
}

/** The other releases in a list of Leases. One that cannot be read counts as one that chooses every node. */
export function otherReleases(
  leases: readonly JsonObject[],
  own: string,
  annotation: string,
): readonly FoundRelease[] {
  const seniority = (raw: JsonObject): readonly [number, string] => {
    const { createdAt, name } = readIdentity(raw);
    return [createdAt, name];
  };
  const ours = leases.find((raw) => readIdentity(raw).name === own);
  const isOlder = (raw: JsonObject): boolean => {
    if (ours === undefined) return true;
    const [[at, name], [ownAt, ownName]] = [seniority(raw), seniority(ours)];
    return at < ownAt || (at === ownAt && name < ownName);
  };
  return leases.flatMap((raw) => {
    const text = textAt(raw, 'metadata', 'annotations', annotation);
    const { name } = readIdentity(raw);
    if (text === undefined || name === own) return [];
    const isHeld = (textAt(raw, 'spec', 'holderIdentity') ?? '') !== '';
    return { lease: sanitizedText(name), selector: parseNodeSelector(text), isOlder: isOlder(raw), isHeld };
  });
}

/** The Nodes that a selector chooses. */
export type ChosenNodes =
  /** Names of some of them, none if there are none. */
  | { readonly kind: 'listed'; readonly names: readonly string[] }
  /** No list was answered, which is no evidence that it chooses none. `problem`: that list in words. */
  | { readonly kind: 'unknown'; readonly problem: string };

/** Reads which Nodes a selector chooses. Rejects only with the signal's reason. */
export async function nodesChosenBy(
  { text }: NodeSelector,
  kubernetes: ModeDeps['kubernetes'],
  signal: AbortSignal,
): Promise<ChosenNodes> {
  const path = `/api/v1/nodes?limit=100&labelSelector=${encodeURIComponent(text)}`;
  const reply = await ask(kubernetes, { method: 'GET', path }, signal);
  const items = listIn(reply);
  if (items !== undefined) return { kind: 'listed', names: items.map((raw) => readIdentity(raw).name) };
  return {
    kind: 'unknown',
    problem: unlistedNodes('status' in reply ? reply.status : undefined, unlisted(reply)),
  };
}

/** The objects of an answered list; undefined if there is none. */
export function listIn(reply: Reply): readonly JsonObject[] | undefined {
  return reply.kind === 'ok' ? itemsOf(reply.object) : undefined;
}

/** Why a list was not answered. */
export function unlisted(reply: Reply): string {
  return reply.kind === 'ok' ? 'the answer is no list of objects' : reply.message;
}
