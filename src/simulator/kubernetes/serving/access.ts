// Authenticates and authorizes clients.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/
import { forbidden, unauthorized } from '../api-status.ts';
import { quoted } from '../go-text.ts';
import type { ResourceTarget } from './request-target.ts';

export interface AccessRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty at cluster scope. */
  readonly namespace: string;
  /** Empty if the request names no object. */
  readonly name: string;
}

export type Authorize = (request: AccessRequest) => boolean;

/** Users by bearer token. */
export type Tokens = Readonly<Record<string, string>>;

const anonymous = 'system:anonymous';

/**
 * The user of a request; throws `StatusError` for an unknown token. Without a token table everyone is an
 * administrator; with one, a request without a token is anonymous.
 */
export function authenticate(tokens: Tokens | undefined, authorization: string | undefined): string {
  if (tokens === undefined) return 'system:admin';
  if (authorization === undefined) return anonymous;
  const token = /^Bearer\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const user = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (user === undefined) throw unauthorized();
  return user;
}

/** Throws `StatusError` if the user lacks access. */
export function checkAccess(
  authorize: Authorize | undefined,
  user: string,
  target: ResourceTarget,
  verb: string,
): void {
  const { group, resource, subresource, namespace, name } = target;
  if (isAllowed(authorize, { user, verb, group, resource, subresource, namespace, name })) return;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(namespace)}`;
  const because = `User ${quoted(user)} cannot ${verb} resource ${quoted(what)} in API group ${quoted(group)} ${scope}`;
  throw forbidden({ group, name: resource }, name, because);
}

/** Without an authorizer, everyone but the anonymous user may do everything. */
export function isAllowed(authorize: Authorize | undefined, request: AccessRequest): boolean {
  return authorize === undefined ? request.user !== anonymous : authorize(request);
}
