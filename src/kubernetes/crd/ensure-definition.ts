// Makes sure that the cluster has a definition of a kind of Cilium. It creates an absent one, replaces an older one of its own,
// and leaves everybody else's alone.
import type { Clock } from '../../runtime/clock.ts';
import { retry } from '../../runtime/retry.ts';
import { ask, type Reply } from '../transport/api-reply.ts';
import { type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import { definitionVersion, manager, managerLabel, versionLabel } from './cilium-definitions.ts';
import { hasCondition } from '../object-identity.ts';

export interface DefinitionDeps {
  /** The definition as it is created. */
  readonly definition: JsonObject;
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  /** Whether an absent one may be created, and an older one of our own replaced. */
  readonly mayCreate: boolean;
}

export type DefinitionOutcome =
  | { readonly kind: 'present' }
  | { readonly kind: 'created' | 'updated'; readonly version: string }
  /** `problem` says what to do. */
  | { readonly kind: 'absent'; readonly problem: string };

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** In ms. */
const poll = { pause: 500, max: 60_000 };

/** Resolves once the definition is served, or is known to be absent. Rejects only with the signal's reason. */
export async function ensureDefinition(
  deps: DefinitionDeps,
  signal: AbortSignal,
): Promise<DefinitionOutcome> {
  const { clock } = deps;
  const end = clock.monotonic() + poll.max;
  let problem = 'it is not served yet';
  let done: 'created' | 'updated' | undefined;
  const attempt = (): Promise<Step> => takeStep(deps, signal);
  const step = await retry({ clock, signal }, attempt, (taken) => {
    if (taken.kind === 'absent' || taken.kind === 'served') return undefined;
    if (taken.kind === 'changed') done = taken.done;
    if (taken.kind === 'failed') problem = taken.problem;
    return clock.monotonic() < end ? poll.pause : undefined;
  });
  if (step.kind === 'absent') return step;
  if (step.kind === 'served')
    return done === undefined ? { kind: 'present' } : { kind: done, version: definitionVersion };
  return { kind: 'absent', problem: `the definition ${nameOf(deps)} is missing: ${problem}` };
}

function nameOf({ definition }: DefinitionDeps): string {
  return textAt(definition, 'metadata', 'name') ?? '';
}

function pathOf(deps: DefinitionDeps): string {
  return `${collection}/${nameOf(deps)}`;
}

type Step =
  | { readonly kind: 'served' }
  /** The definition exists, but the API server does not serve it yet. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'changed'; readonly done: 'created' | 'updated' }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'absent'; readonly problem: string };

async function takeStep(deps: DefinitionDeps, signal: AbortSignal): Promise<Step> {
  const reply = await ask(deps.transport, { method: 'GET', path: pathOf(deps) }, signal);
  switch (reply.kind) {
    case 'gone':
      return deps.mayCreate ? create(deps, signal) : absent(deps, 'it is not to be created here');
    case 'denied':
      // If it may not be read, the list of its objects shows whether there is one.
      return { kind: 'served' };
    case 'ok':
      if (deps.mayCreate && isOutdated(reply.object)) return replace(deps, reply.object, signal);
      return { kind: hasCondition(reply.object, 'Established', 'True') ? 'served' : 'waiting' };
    default:
      return { kind: 'failed', problem: reply.message };
  }
}

const contentType = 'application/json';

async function create(deps: DefinitionDeps, signal: AbortSignal): Promise<Step> {
  const body = JSON.stringify(deps.definition);
  const reply = await ask(deps.transport, { method: 'POST', path: collection, contentType, body }, signal);
  if (reply.kind === 'denied') return absent(deps, reply.message);
  return stepAfter(reply, 'created');
}

async function replace(deps: DefinitionDeps, known: JsonObject, signal: AbortSignal): Promise<Step> {
  const request = { method: 'PUT', path: pathOf(deps), contentType } as const;
  const body = JSON.stringify(replacing(deps.definition, known));
  return stepAfter(await ask(deps.transport, { ...request, body }, signal), 'updated');
}

function stepAfter(reply: Reply, done: 'created' | 'updated'): Step {
  if (reply.kind === 'ok') return { kind: 'changed', done };
  return { kind: 'failed', problem: reply.kind === 'gone' ? 'it was deleted meanwhile' : reply.message };
}

function absent(deps: DefinitionDeps, why: string): Step {
  const problem = `the cluster has no definition ${nameOf(deps)}, and Headwater does not create it (${why}): install Cilium, or let Headwater create it (rbac.create of the chart, no --skip-crd-creation)`;
  return { kind: 'absent', problem };
}

/** Our definition in place of the one that stands there, in just that state. */
function replacing(definition: JsonObject, known: JsonObject): JsonObject {
  const metadata = { ...(valueAt(known, 'metadata') as JsonObject) };
  const labels = { ...(valueAt(known, 'metadata', 'labels') as JsonObject) };
  return {
    ...definition,
    metadata: { ...metadata, labels: { ...labels, [versionLabel]: definitionVersion } },
  };
}

/** Only one of our own, of a lower version. */
function isOutdated(definition: JsonObject): boolean {
  if (textAt(definition, 'metadata', 'labels', managerLabel) !== manager) return false;
  return isLower(textAt(definition, 'metadata', 'labels', versionLabel) ?? '0', definitionVersion);
}

/** Compares versions of numbers and dots. */
export function isLower(version: string, other: string): boolean {
  const [ours, theirs] = [version, other].map((text) => text.split('.').map(Number));
  for (let index = 0; index < 3; index++) {
    const [a = 0, b = 0] = [ours?.[index], theirs?.[index]];
    if (a !== b) return a < b;
  }
  return false;
}
