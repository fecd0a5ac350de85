// Which other releases of a cluster a list of Leases shows, and which Nodes one of them chooses.
import { type NodeSelector, parseNodeSelector } from '../config/node-selector.ts';
import { readIdentity } from '../kubernetes/object-identity.ts';
import { ask } from '../kubernetes/transport/api-reply.ts';
import { isObject, type JsonObject, listAt, textAt } from '../runtime/json.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import { randomWait } from '../runtime/backoff.ts';
import { retry } from '../runtime/retry.ts';
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

/** Between two attempts to look before anything is served, in ms. */
export const attempts = { base: 500, cap: 5000 };
/** How long such attempts go on, in ms. */
export const maxAttempts = 60_000;

/** Names of some Nodes that a selector chooses. Waits for an answer, a minute at most; none if there is none. */
export async function namesOf(
  { text }: NodeSelector,
  { host, kubernetes }: Pick<ModeDeps, 'host' | 'kubernetes'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { clock, random } = host;
  const path = `/api/v1/nodes?limit=100&labelSelector=${encodeURIComponent(text)}`;
  const end = clock.monotonic() + maxAttempts;
  const reply = await retry(
    { clock, signal },
    () => ask(kubernetes, { method: 'GET', path }, signal),
    ({ kind }, tries) =>
      kind === 'unavailable' && clock.monotonic() < end ? randomWait(attempts, tries, random) : undefined,
  );
  const items = reply.kind === 'ok' ? listAt(reply.object, 'items') : [];
  return items.filter(isObject).map((raw) => readIdentity(raw).name);
}
