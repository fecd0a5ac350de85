// Requests to the RPC APIs as clients sign them, by the description of the algorithm.
import { createHash, createHmac, randomUUID } from 'node:crypto';

export interface Signing {
  readonly keyId?: string;
  readonly secret?: string;
  readonly version?: string;
  readonly nonce?: string;
  /** The security token of temporary keys. */
  readonly token?: string;
  /** Seconds that the client's clock is ahead. */
  readonly ahead?: number;
  /** Headers after signing: what someone on the way changed. */
  readonly changed?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The signed request of an action and its answer. */
export async function signedCall(
  url: string,
  action: string,
  parameters: Readonly<Record<string, string>> = {},
  signing: Signing = {},
): Promise<Answered> {
  const {
    keyId = 'LTAIHEADWATEREXAMPLE',
    secret = 'headwater-example-secret',
    version = '2014-05-26',
    nonce = randomUUID(),
    ahead = 0,
    token,
    changed,
  } = signing;
  const whole = { RegionId: 'cn-hangzhou', ...parameters };
  const query = Object.entries(whole)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const headers: Record<string, string> = {
    host: new URL(url).host,
    'x-acs-action': action,
    'x-acs-content-sha256': sha256(''),
    'x-acs-date': new Date(Date.now() + ahead * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
    'x-acs-signature-nonce': nonce,
    'x-acs-version': version,
    ...(token !== undefined && { 'x-acs-security-token': token }),
  };
  const names = Object.keys(headers).toSorted();
  const lines = names.map((name) => `${name}:${headers[name] ?? ''}\n`).join('');
  const canonical = ['POST', '/', query, lines, names.join(';'), sha256('')].join('\n');
  const signature = createHmac('sha256', secret)
    .update(`ACS3-HMAC-SHA256\n${sha256(canonical)}`)
    .digest('hex');
  const authorization = `ACS3-HMAC-SHA256 Credential=${keyId},SignedHeaders=${names.join(';')},Signature=${signature}`;
  const answer = await fetch(`${url}/?${query}`, {
    method: 'POST',
    headers: { ...headers, authorization, ...changed },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** The same with the older signature: everything is in the query, the action and its version too. */
export async function olderCall(
  url: string,
  action: string,
  parameters: Readonly<Record<string, string>> = {},
  { secret = 'headwater-example-secret', nonce = randomUUID() }: Signing = {},
): Promise<Answered> {
  const whole = {
    Action: action,
    Version: '2014-05-26',
    Format: 'JSON',
    AccessKeyId: 'LTAIHEADWATEREXAMPLE',
    SignatureMethod: 'HMAC-SHA1',
    SignatureVersion: '1.0',
    SignatureNonce: nonce,
    Timestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    RegionId: 'cn-hangzhou',
    ...parameters,
  };
  const query = Object.entries(whole)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const signature = createHmac('sha1', `${secret}&`)
    .update(`GET&%2F&${encoded(query)}`)
    .digest('base64');
  const answer = await fetch(`${url}/?${query}&Signature=${encoded(signature)}`);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
