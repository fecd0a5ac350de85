// Verifies the signature ACS3-HMAC-SHA256 by recomputing it
// (https://help.aliyun.com/document_detail/311797.html).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../http-front.ts';
import { RpcRefusal } from './rpc-refusal.ts';

export interface Credential {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  /** Name of the user that owns the key. */
  readonly user: string;
  /** Only of temporary keys: what each of their requests carries. */
  readonly securityToken?: string | undefined;
  /** Actions that its policy allows, such as `ecs:AttachNetworkInterface`; all if absent. */
  readonly actions?: readonly string[] | undefined;
}

/** Who asks, and what makes the request one of its kind. */
export interface Signed {
  readonly credential: Credential;
  readonly nonce: string;
}

export const algorithm = 'ACS3-HMAC-SHA256';

/** How far the time of a request may be from ours. */
const toleratedSkewMs = 15 * 60_000;

/** Headers that have to be signed. */
const mandatory = [
  'host',
  'x-acs-action',
  'x-acs-content-sha256',
  'x-acs-date',
  'x-acs-signature-nonce',
  'x-acs-version',
];

/** The credential of the request. Refuses an unknown key, and a missing, wrong or expired signature. */
export function verifySignature(
  request: HttpRequest,
  credentials: readonly Credential[],
  now: number,
): Signed {
  const { headers, body } = request;
  const { keyId, signedHeaders, signature } = readAuthorization(headers['authorization'] ?? '');
  const credential = knownCredential(credentials, keyId, headers['x-acs-security-token']);
  refuseSkew(headers['x-acs-date'] ?? '', now);
  const own = Object.keys(headers).filter((name) => name.startsWith('x-acs-'));
  const missing = [...mandatory, ...own].find(
    (name) => !signedHeaders.includes(name) || headers[name] === undefined,
  );
  if (missing !== undefined) throw incomplete(`the header ${missing} is not signed`);
  const hash = sha256(body);
  if (headers['x-acs-content-sha256'] !== hash) throw doesNotMatch('the hash of the body');
  const text = `${algorithm}\n${sha256(canonicalRequest(request, signedHeaders, hash))}`;
  const expected = createHmac('sha256', credential.accessKeySecret).update(text).digest('hex');
  if (!same(expected, signature)) throw doesNotMatch(text);
  return { credential, nonce: headers['x-acs-signature-nonce'] ?? '' };
}

/** The credential of a key; a temporary one needs its token, and only its own. */
export function knownCredential(
  credentials: readonly Credential[],
  keyId: string,
  token: string | undefined,
): Credential {
  const credential = credentials.find((known) => known.accessKeyId === keyId);
  if (credential === undefined) {
    throw new RpcRefusal('InvalidAccessKeyId.NotFound', 'Specified access key is not found.', 404);
  }
  if (credential.securityToken === token) return credential;
  throw token === undefined
    ? new RpcRefusal('MissingSecurityToken', 'SecurityToken is mandatory for this action.')
    : new RpcRefusal(
        'InvalidSecurityToken.MismatchWithAccessKey',
        'Specified SecurityToken mismatch with the AccessKey.',
      );
}

/** Refuses a time that is malformed or too far from ours. */
export function refuseSkew(stamp: string, now: number): void {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(stamp) ? Date.parse(stamp) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new RpcRefusal(
      'InvalidTimeStamp.Format',
      'Specified time stamp or date value is not well formatted.',
    );
  }
  if (Math.abs(now - time) > toleratedSkewMs) {
    throw new RpcRefusal('InvalidTimeStamp.Expired', 'Specified time stamp or date value is expired.');
  }
}

export function doesNotMatch(serverText: string): RpcRefusal {
  return new RpcRefusal(
    'SignatureDoesNotMatch',
    `Specified signature is not matched with our calculation. server string to sign is:${serverText}`,
  );
}

/** RFC 3986: encodes everything but unreserved characters. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Parameters as they are signed: by name, encoded. */
export function canonicalQuery(parameters: Iterable<readonly [string, string]>): string {
  return [...parameters]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
}

/** Compares in constant time. */
export function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

interface Authorization {
  readonly keyId: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const form = /^ACS3-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/;

function readAuthorization(header: string): Authorization {
  const [, keyId, headers = '', signature = ''] = form.exec(header) ?? [];
  if (keyId === undefined) throw incomplete('Authorization needs Credential, SignedHeaders and Signature');
  return { keyId, signedHeaders: headers.split(';'), signature };
}

function canonicalRequest(
  { method, url, headers }: HttpRequest,
  signedHeaders: readonly string[],
  hash: string,
): string {
  const { pathname, searchParams } = new URL(url, 'http://ecs');
  const lines = signedHeaders.map((name) => `${name}:${(headers[name] ?? '').trim()}\n`);
  return [method, pathname, canonicalQuery(searchParams), lines.join(''), signedHeaders.join(';'), hash].join(
    '\n',
  );
}

function incomplete(message: string): RpcRefusal {
  return new RpcRefusal(
    'IncompleteSignature',
    `The request signature does not conform to Aliyun standards: ${message}.`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
