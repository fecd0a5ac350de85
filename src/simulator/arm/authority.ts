// The authority that issues tokens: client credentials by secret or by a federated token
// (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow), and what clients look up first.
import type { HttpAnswer, HttpRequest } from '../http-front.ts';
import { type Principal, tokenSeconds, type Tokens } from './principals.ts';

const paths = /\/(oauth2\/v2\.0\/token|v2\.0\/\.well-known\/openid-configuration|discovery\/instance)$/;

export function isForAuthority({ pathname }: URL): boolean {
  return paths.test(pathname);
}

interface TokenError {
  readonly status: number;
  readonly error: string;
  /** The number of the error, of which clients show the text. */
  readonly number: number;
  readonly text: string;
}

export function answerAuthority(request: HttpRequest, url: URL, tokens: Tokens): HttpAnswer {
  const { pathname, origin } = url;
  if (pathname.endsWith('/discovery/instance')) return json(200, instanceOf(url, tokens.tenant));
  const tenant = pathname.split('/')[1] ?? '';
  if (tenant.toLowerCase() !== tokens.tenant.toLowerCase()) {
    return failure({
      status: 400,
      error: 'invalid_request',
      number: 90002,
      text: `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`,
    });
  }
  if (pathname.endsWith('/openid-configuration')) return json(200, configurationOf(origin, tenant));
  const form = new URLSearchParams(request.body);
  const found = principalOf(form, tokens.principals);
  if ('error' in found) return failure(found);
  const scope = form.get('scope')?.split(' ')[0] ?? '';
  if (!scope.endsWith('/.default')) {
    return failure({
      status: 400,
      error: 'invalid_scope',
      number: 1002012,
      text: `The provided value for scope ${scope} is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).`,
    });
  }
  const { token } = tokens.issue(found, scope.slice(0, -'/.default'.length));
  return json(200, {
    token_type: 'Bearer',
    expires_in: tokenSeconds,
    ext_expires_in: tokenSeconds,
    access_token: token,
  });
}

function principalOf(form: URLSearchParams, principals: readonly Principal[]): Principal | TokenError {
  if (form.get('grant_type') !== 'client_credentials') {
    const text = `The provided value for the input parameter 'grant_type' is not valid.`;
    return { status: 400, error: 'unsupported_grant_type', number: 70003, text };
  }
  const clientId = form.get('client_id') ?? '';
  const principal = principals.find((each) => each.clientId === clientId);
  if (principal === undefined) {
    const text = `Application with identifier '${clientId}' was not found in the directory.`;
    return { status: 400, error: 'unauthorized_client', number: 700016, text };
  }
  return proves(form, principal) ?? principal;
}

/** The fault in the proof of a client, if there is one. */
function proves(form: URLSearchParams, principal: Principal): TokenError | undefined {
  const assertion = form.get('client_assertion');
  if (assertion !== null) {
    if (principal.federated && assertion !== '') return undefined;
    const text = 'No matching federated identity record found for presented assertion.';
    return { status: 401, error: 'invalid_client', number: 70021, text };
  }
  if (principal.secret !== undefined && form.get('client_secret') === principal.secret) return undefined;
  const text = `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${principal.clientId}'.`;
  return { status: 401, error: 'invalid_client', number: 7000215, text };
}

function instanceOf({ host, origin }: URL, tenant: string): object {
  return {
    tenant_discovery_endpoint: `${origin}/${tenant}/v2.0/.well-known/openid-configuration`,
    'api-version': '1.1',
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  };
}

function configurationOf(origin: string, tenant: string): object {
  return {
    token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    jwks_uri: `${origin}/${tenant}/discovery/v2.0/keys`,
    response_types_supported: ['code', 'id_token', 'token'],
    scopes_supported: ['openid'],
    issuer: `${origin}/${tenant}/v2.0`,
    authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
    device_authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/devicecode`,
    tenant_region_scope: 'WW',
  };
}

function failure({ status, error, number, text }: TokenError): HttpAnswer {
  return json(status, {
    error,
    error_description: `AADSTS${number}: ${text}`,
    error_codes: [number],
    correlation_id: '00000000-0000-0000-0000-000000000000',
  });
}

function json(status: number, content: object): HttpAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { kind: 'answer', status, headers, body: JSON.stringify(content) };
}
