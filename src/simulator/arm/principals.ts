// Who calls Azure Resource Manager, how a token shows it, and what roles allow.
import { createHmac } from 'node:crypto';
import { ArmRefusal } from './arm-refusal.ts';
import type { ArmTopology } from './arm-topology-schema.ts';

export type Principal = ArmTopology['principals'][number];

/** How long a token is valid, in s. */
export const tokenSeconds = 3600;

interface Claims {
  readonly aud: string;
  readonly tid: string;
  readonly appid: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/** Issues bearer tokens and knows its own again. */
export class Tokens {
  readonly #secret: string;
  readonly #principals: readonly Principal[];
  readonly #tenant: string;
  /** The clients' wall clock in ms. */
  readonly #now: () => number;

  constructor(options: {
    readonly secret: string;
    readonly principals: readonly Principal[];
    readonly tenant: string;
    readonly now: () => number;
  }) {
    this.#secret = options.secret;
    this.#principals = options.principals;
    this.#tenant = options.tenant;
    this.#now = options.now;
  }

  get tenant(): string {
    return this.#tenant;
  }

  get principals(): readonly Principal[] {
    return this.#principals;
  }

  /** A token for one audience, such as `https://management.azure.com`, and when it expires, in s since the epoch. */
  issue(
    principal: Principal,
    audience: string,
    seconds = tokenSeconds,
  ): { readonly token: string; readonly expires: number } {
    const expires = Math.floor(this.#now() / 1000) + seconds;
    const claims: Claims = { aud: audience, tid: this.#tenant, appid: principal.clientId, exp: expires };
    const head = encoded({ typ: 'JWT', alg: 'HS256' });
    const body = encoded(claims);
    return { token: `${head}.${body}.${this.#seal(`${head}.${body}`)}`, expires };
  }

  /** The principal of an `Authorization` header; refuses what Azure refuses. */
  read(authorization: string | undefined, audiences: readonly string[]): Principal {
    if (authorization === undefined) {
      throw unauthorized(
        'AuthenticationFailed',
        "Authentication failed. The 'Authorization' header is missing.",
      );
    }
    const [scheme, token = ''] = authorization.split(' ');
    if (scheme?.toLowerCase() !== 'bearer') {
      throw unauthorized(
        'AuthenticationFailedInvalidHeader',
        "Authentication failed. The 'Authorization' header is provided in an invalid format.",
      );
    }
    const claims = this.#claimsOf(token);
    if (claims.exp * 1000 <= this.#now()) {
      throw unauthorized(
        'ExpiredAuthenticationToken',
        `The access token expiry UTC time '${new Date(claims.exp * 1000).toISOString()}' is earlier than current UTC time '${new Date(this.#now()).toISOString()}'.`,
      );
    }
    if (!audiences.includes(claims.aud.replace(/\/$/, ''))) {
      throw unauthorized(
        'InvalidAuthenticationTokenAudience',
        `The access token has been obtained for wrong audience or resource '${claims.aud}'. It should exactly match with one of the allowed audiences '${audiences.join("','")}'.`,
      );
    }
    const principal = this.#principals.find(({ clientId }) => clientId === claims.appid);
    if (principal === undefined) throw invalidToken();
    return principal;
  }

  #claimsOf(token: string): Claims {
    const [head = '', body = '', seal] = token.split('.');
    if (seal !== this.#seal(`${head}.${body}`)) throw invalidToken();
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
  }

  #seal(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url');
  }
}

type Role = NonNullable<Principal['roles']>[number];

const everything: Role = { scope: '/', actions: ['*'] };

/** The roles that a principal has at a resource. */
export function rolesAt({ roles = [everything] }: Principal, path: string): readonly Role[] {
  const scoped = `${path.toLowerCase()}/`;
  return roles.filter(
    ({ scope }) => scope === '/' || scoped.startsWith(`${scope.toLowerCase().replace(/\/$/, '')}/`),
  );
}

/** Whether the principal's roles allow an action on a resource. */
export function isAllowed(principal: Principal, action: string, path: string): boolean {
  return rolesAt(principal, path).some(
    ({ actions, notActions = [] }) =>
      actions.some((pattern) => isLike(action, pattern)) &&
      !notActions.some((pattern) => isLike(action, pattern)),
  );
}

/** Whether the principal has any role in the subscription. */
export function seesSubscription({ roles }: Principal, id: string): boolean {
  const own = `/subscriptions/${id}/`.toLowerCase();
  return (
    roles === undefined ||
    roles.some(({ scope }) => scope === '/' || `${scope.toLowerCase()}/`.startsWith(own))
  );
}

/** `*` stands for any text; case does not count. */
function isLike(action: string, pattern: string): boolean {
  const source = pattern
    .toLowerCase()
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(`^${source}$`).test(action.toLowerCase());
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function invalidToken(): ArmRefusal {
  return unauthorized('InvalidAuthenticationToken', 'The access token is invalid.');
}

function unauthorized(code: string, message: string): ArmRefusal {
  const headers = {
    'www-authenticate': `Bearer authorization_uri="https://login.microsoftonline.com/", error="invalid_token", error_description="${message.replaceAll('"', "'")}"`,
  };
  return new ArmRefusal(code, message, 401, { headers });
}
