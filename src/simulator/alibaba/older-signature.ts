// Verifies the older signature of RPC requests, HMAC-SHA1 over parameters, by recomputing it
// (https://help.aliyun.com/document_detail/25492.html).
import { createHmac } from 'node:crypto';
import type { Flattened } from './parameters.ts';
import { missingParameter, RpcRefusal } from './rpc-refusal.ts';
import {
  canonicalQuery,
  type Credential,
  doesNotMatch,
  encode,
  knownCredential,
  refuseSkew,
  same,
  type Signed,
} from './rpc-signature.ts';

/** Parameters of the protocol, not of an action. */
export const protocolParameters: ReadonlySet<string> = new Set([
  'Action',
  'Version',
  'Format',
  'AccessKeyId',
  'Signature',
  'SignatureMethod',
  'SignatureVersion',
  'SignatureNonce',
  'SignatureType',
  'Timestamp',
  'SecurityToken',
]);

const mandatory = [
  'AccessKeyId',
  'SignatureMethod',
  'SignatureVersion',
  'SignatureNonce',
  'Timestamp',
  'Signature',
];

/** The credential of a request with the older signature; refuses as the newer one does. */
export function verifyOlderSignature(
  method: string,
  parameters: Flattened,
  { credentials, now }: { readonly credentials: readonly Credential[]; readonly now: number },
): Signed {
  const missing = mandatory.find((name) => (parameters.get(name) ?? '') === '');
  if (missing !== undefined) throw missingParameter(missing);
  if (parameters.get('SignatureMethod') !== 'HMAC-SHA1') {
    throw new RpcRefusal('InvalidSignatureMethod', 'Specified signature method is not valid.');
  }
  if (parameters.get('SignatureVersion') !== '1.0') {
    throw new RpcRefusal('InvalidSignatureVersion', 'Specified signature version is not valid.');
  }
  const credential = knownCredential(
    credentials,
    parameters.get('AccessKeyId') ?? '',
    parameters.get('SecurityToken'),
  );
  refuseSkew(parameters.get('Timestamp') ?? '', now);
  const signed = [...parameters].filter(([name]) => name !== 'Signature');
  const text = `${method}&${encode('/')}&${encode(canonicalQuery(signed))}`;
  const expected = createHmac('sha1', `${credential.accessKeySecret}&`).update(text).digest('base64');
  if (!same(expected, parameters.get('Signature') ?? '')) throw doesNotMatch(text);
  return { credential, nonce: parameters.get('SignatureNonce') ?? '' };
}
