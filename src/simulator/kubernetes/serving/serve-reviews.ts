// Answers a user who asks who they are and what they may do. Nothing is stored.
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/self-subject-review-v1/
import { badRequest } from '../api-status.ts';
import type { KubernetesRequest, KubernetesResponse } from '../exchange.ts';
import { isJsonObject, type JsonObject, textAt } from '../json-value.ts';
import { readJson } from '../read-json.ts';
import { type Authorize, isAllowed } from './access.ts';
import { jsonAnswer } from './answers.ts';

export interface Reviewed {
  readonly user: string;
  readonly authorize: Authorize | undefined;
}

/** Undefined for another path. Throws `StatusError`. */
export function serveReview(
  path: string,
  request: KubernetesRequest,
  reviewed: Reviewed,
): KubernetesResponse | undefined {
  if (request.method !== 'POST') return undefined;
  switch (path) {
    case '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews':
      return jsonAnswer(201, accessReview(bodyOf(request), reviewed));
    case '/apis/authentication.k8s.io/v1/selfsubjectreviews': {
      const userInfo = { username: reviewed.user };
      return jsonAnswer(201, { ...bodyOf(request), metadata: {}, status: { userInfo } });
    }
    default:
      return undefined;
  }
}

function accessReview(body: JsonObject, { user, authorize }: Reviewed): JsonObject {
  const of = (member: string): string => textAt(body, 'spec', 'resourceAttributes', member);
  const allowed = isAllowed(authorize, {
    user,
    verb: of('verb'),
    group: of('group'),
    resource: of('resource'),
    subresource: of('subresource'),
    namespace: of('namespace'),
    name: of('name'),
  });
  return { ...body, metadata: {}, status: { allowed } };
}

function bodyOf({ value, body = '' }: KubernetesRequest): JsonObject {
  if (value !== undefined) return value;
  const read = readJson(body);
  if ('problem' in read || !isJsonObject(read.value))
    throw badRequest('the body of a review is a JSON object');
  return read.value;
}
