// A stand-in for STS on this machine. It issues temporary keys for a correct request of the right role, and refuses all
// others as STS does. It verifies no signatures, but records each request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, loopbackServer } from './loopback-server.ts';

export interface TemporaryKeys {
  readonly id: string;
  readonly secret: string;
  readonly token: string;
}

export interface Role {
  readonly arn: string;
  /** Required external ID. */
  readonly externalId?: string;
  /** The only access key that may assume the role; for a web identity, the only token. */
  readonly by: string;
  /** Issued in turn; the last one repeats. */
  readonly keys: readonly TemporaryKeys[];
  /** Lifetime of each, in ms. */
  readonly lifetime: number;
}

export interface TokenService extends LoopbackServer {
  /** The action and the role of each request. */
  readonly asked: readonly string[];
}

/** `now`: wall-clock ms. `account`: the account of every caller; undefined: every request is denied. */
export async function startTokenService(
  roles: readonly Role[],
  now: () => number,
  account?: string,
): Promise<TokenService> {
  const asked: string[] = [];
  const given = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const form = new URLSearchParams(body);
    const action = form.get('Action') ?? '';
    const role = roles.find(({ arn }) => arn === form.get('RoleArn'));
    asked.push(`${action} ${form.get('RoleArn')}`);
    response.setHeader('content-type', 'text/xml');
    if (action === 'GetCallerIdentity' && account !== undefined) {
      response.writeHead(200).end(identityIn(account));
      return;
    }
    if (role === undefined || !mayAssume(role, form, request.headers.authorization ?? '')) {
      const who = 'User: arn:aws:sts::444455556666:assumed-role/headwater/session';
      const what = `sts:${action} on resource: ${form.get('RoleArn')}`;
      response.writeHead(403).end(refusal(`${who} is not authorized to perform: ${what}`));
      return;
    }
    const turn = given.get(role.arn) ?? 0;
    given.set(role.arn, turn + 1);
    const keys = role.keys[Math.min(turn, role.keys.length - 1)];
    if (keys === undefined) throw new Error(`no keys for ${role.arn}`);
    response.writeHead(200).end(granted(action, role, keys, new Date(now() + role.lifetime)));
  };
  const server = await loopbackServer((request, response) => void answer(request, response));
  return { ...server, asked };
}

function mayAssume(role: Role, form: URLSearchParams, authorization: string): boolean {
  if (form.get('Action') === 'AssumeRoleWithWebIdentity') return form.get('WebIdentityToken') === role.by;
  const signedBy = /Credential=(\w+)\//.exec(authorization)?.[1];
  return signedBy === role.by && (form.get('ExternalId') ?? undefined) === role.externalId;
}

const namespace = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"';

function granted(action: string, { arn }: Role, { id, secret, token }: TemporaryKeys, until: Date): string {
  const session = `${arn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/session`;
  return `<${action}Response ${namespace}><${action}Result><AssumedRoleUser><Arn>${session}</Arn><AssumedRoleId>AROA:session</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${until.toISOString()}</Expiration></Credentials></${action}Result><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></${action}Response>`;
}

function identityIn(account: string): string {
  const arn = `arn:aws:sts::${account}:assumed-role/headwater/session`;
  return `<GetCallerIdentityResponse ${namespace}><GetCallerIdentityResult><Arn>${arn}</Arn><UserId>AROA:session</UserId><Account>${account}</Account></GetCallerIdentityResult><ResponseMetadata><RequestId>r-3</RequestId></ResponseMetadata></GetCallerIdentityResponse>`;
}

function refusal(message: string): string {
  return `<ErrorResponse ${namespace}><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${message}</Message></Error><RequestId>r-2</RequestId></ErrorResponse>`;
}
