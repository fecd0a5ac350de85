// Verifies AWS Signature Version 4 by recomputing it
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Ec2Refusal } from './ec2-refusal.ts';

export interface Credential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Name of the user that owns the key. */
  readonly user: string;
  /** The account of that user, if it is another one than that of the network. */
  readonly account?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  /** Path and query as on the request line. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface SignatureCheck {
  readonly credentials: readonly Credential[];
  readonly region: string;
  /** The current time, in wall-clock ms. */
  readonly now: number;
}

/** Maximum difference between the request's time and ours; the common error RequestExpired names 15 minutes. */
const toleratedSkewMs = 15 * 60_000;

const algorithm = 'AWS4-HMAC-SHA256';

/** The credential of the request. Refuses a missing, wrong or expired signature and an unknown key. */
export function verifySignature(
  request: SignedRequest,
  { credentials, region, now }: SignatureCheck,
): Credential {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new Ec2Refusal('MissingAuthenticationToken', 'Request is missing Authentication Token', 403);
  }
  const { keyId, date, scope, signedHeaders, signature } = readAuthorization(authorization);
  const credential = credentials.find((known) => known.accessKeyId === keyId);
  if (credential === undefined) {
    throw new Ec2Refusal('AuthFailure', 'AWS was not able to validate the provided access credentials', 401);
  }
  const stamp = request.headers['x-amz-date'] ?? '';
  const time = timeOf(stamp);
  if (Math.abs(now - time) > toleratedSkewMs) throw new Ec2Refusal('RequestExpired', 'Request has expired.');
  const rightScope = [date, region, 'ec2', 'aws4_request'].join('/');
  if (scope !== rightScope || !stamp.startsWith(date))
    throw doesNotMatch(`Credential should be scoped to ${rightScope}`);
  const canonical = canonicalRequest(request, signedHeaders);
  const text = [algorithm, stamp, scope, sha256(canonical)].join('\n');
  const key = [date, region, 'ec2', 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${credential.secretAccessKey}`,
  );
  if (!same(hmac(key, text).toString('hex'), signature)) throw doesNotMatch();
  return credential;
}

interface Authorization {
  readonly keyId: string;
  readonly date: string;
  /** Date, region, service and the terminator. */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const authorizationForm =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})(\/[^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/;

function readAuthorization(header: string): Authorization {
  const [, keyId = '', date = '', rest = '', headers = '', signature = ''] =
    authorizationForm.exec(header) ?? [];
  const signedHeaders = headers.split(';');
  if (!signedHeaders.includes('host')) {
    throw new Ec2Refusal(
      'IncompleteSignature',
      'The request signature does not conform to AWS standards: Authorization needs Credential, SignedHeaders with host, and Signature.',
    );
  }
  return { keyId, date, scope: `${date}${rest}`, signedHeaders, signature };
}

function canonicalRequest(
  { method, url, headers, body }: SignedRequest,
  signedHeaders: readonly string[],
): string {
  const [path = '/', query = ''] = url.split('?');
  const lines = signedHeaders.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`);
  return [method, path, canonicalQuery(query), lines.join(''), signedHeaders.join(';'), sha256(body)].join(
    '\n',
  );
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  return [...new URLSearchParams(query)]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
}

/** RFC 3986: encodes everything but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `20260102T030405Z` in ms since the epoch. */
function timeOf(stamp: string): number {
  const iso = stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const time = Date.parse(iso);
  if (iso !== stamp && !Number.isNaN(time)) return time;
  throw new Ec2Refusal('IncompleteSignature', 'Date must be in ISO-8601 "basic format".');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function doesNotMatch(reason?: string): Ec2Refusal {
  return new Ec2Refusal(
    'SignatureDoesNotMatch',
    reason ??
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
    403,
  );
}
