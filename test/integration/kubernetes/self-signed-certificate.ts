// A certificate for 127.0.0.1 that vouches for itself, made with what Node.js has: keys and signatures, but no X.509, so
// the few structures needed are spelt out here (RFC 5280, DER).
import { createSign, generateKeyPairSync } from 'node:crypto';

export interface Certificate {
  /** As PEM. */
  readonly cert: string;
  readonly key: string;
}

export function selfSignedCertificate(commonName: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const name = sequence(set(sequence(objectId([0x55, 0x04, 0x03]), tagged(0x0c, Buffer.from(commonName)))));
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(date('20200101000000Z'), date('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(authority(), forLoopback())),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function authority(): Buffer {
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  return sequence(objectId([0x55, 0x1d, 0x13]), tagged(0x04, isAuthority));
}

function forLoopback(): Buffer {
  const names = sequence(tagged(0x87, Buffer.from([127, 0, 0, 1])), tagged(0x82, Buffer.from('localhost')));
  return sequence(objectId([0x55, 0x1d, 0x11]), tagged(0x04, names));
}

function date(text: string): Buffer {
  return tagged(0x18, Buffer.from(text));
}

function objectId(bytes: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return tagged(0x31, Buffer.concat(parts));
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}
