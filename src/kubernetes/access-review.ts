// Asks the API server what we may do, so that a verb that is missing from a role is known before it is needed: some are
// needed only when another process is gone or something happens twice.
//
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
import { ask } from './api-reply.ts';
import { memberOf, valueAt } from './json.ts';
import type { NeededAccess } from './needed-access.ts';
import type { KubernetesTransport } from './transport.ts';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/**
 * Those of `needed` that the API server says we may not. What it does not say is not among them: it finds out by itself
 * when it is tried. Rejects only with the signal's reason.
 */
export async function missingAccess(
  transport: KubernetesTransport,
  needed: readonly NeededAccess[],
  signal: AbortSignal,
): Promise<readonly NeededAccess[]> {
  const missing: NeededAccess[] = [];
  for (const each of needed) if (await isRefused(transport, each, signal)) missing.push(each);
  return missing;
}

async function isRefused(
  transport: KubernetesTransport,
  { verb, group, resource: qualified, name, namespace }: NeededAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const [resource, subresource] = qualified.split('/');
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, subresource, name, namespace } },
  });
  const reply = await ask(transport, { method: 'POST', path, contentType: 'application/json', body }, signal);
  return reply.kind === 'ok' && memberOf(valueAt(reply.object, 'status'), 'allowed') === false;
}
