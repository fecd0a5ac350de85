// Asks the API server which verbs we lack. This reveals a missing verb before we need it: some are needed only after a
// failover or a repeated event.
//
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
import { ask } from '../transport/api-reply.ts';
import { memberOf, valueAt } from '../../runtime/json.ts';
import type { NeededAccess } from './needed-access.ts';
import type { KubernetesTransport } from '../transport/transport.ts';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export interface ReviewedAccess {
  readonly access: NeededAccess;
  /** `unanswered`: the API server does not say. */
  readonly verdict: 'allowed' | 'denied' | 'unanswered';
}

/** Rejects only with the signal's reason. */
export async function reviewAccess(
  transport: KubernetesTransport,
  needed: readonly NeededAccess[],
  signal: AbortSignal,
): Promise<readonly ReviewedAccess[]> {
  const reviewed: ReviewedAccess[] = [];
  for (const access of needed) reviewed.push({ access, verdict: await verdictOn(transport, access, signal) });
  return reviewed;
}

/** The members of `needed` that the API server denies. It omits verbs without an answer: they fail on use if they are missing. */
export async function missingAccess(
  transport: KubernetesTransport,
  needed: readonly NeededAccess[],
  signal: AbortSignal,
): Promise<readonly NeededAccess[]> {
  const reviewed = await reviewAccess(transport, needed, signal);
  return reviewed.flatMap(({ access, verdict }) => (verdict === 'denied' ? [access] : []));
}

async function verdictOn(
  transport: KubernetesTransport,
  { verb, group, resource: qualified, name, namespace }: NeededAccess,
  signal: AbortSignal,
): Promise<ReviewedAccess['verdict']> {
  const [resource, subresource] = qualified.split('/');
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, subresource, name, namespace } },
  });
  const reply = await ask(transport, { method: 'POST', path, contentType: 'application/json', body }, signal);
  const allowed = reply.kind === 'ok' ? memberOf(valueAt(reply.object, 'status'), 'allowed') : undefined;
  if (typeof allowed !== 'boolean') return 'unanswered';
  return allowed ? 'allowed' : 'denied';
}
