// Certificates for servers on this machine, built with Node.js alone. Node.js has keys and signatures but no X.509, so
// the few necessary structures are written out here (RFC 5280, DER).
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface Certificate {
  /** As PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** A certificate for 127.0.0.1, localhost and host names. */
  issue(...hosts: readonly string[]): Certificate;
}

/** A self-signed certificate for 127.0.0.1. */
export function selfSignedCertificate(commonName: string): Certificate {
  return certificateAuthority(commonName);
}

export function certificateAuthority(commonName: string): Authority {
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const issuer = nameOf(commonName);
  const signed = (subject: Buffer, publicKey: KeyObject, ...extensions: readonly Buffer[]): string => {
    const body = sequence(
      tagged(0xa0, tagged(0x02, Buffer.from([2]))),
      tagged(0x02, Buffer.from([1])),
      algorithm,
      issuer,
      sequence(date('20200101000000Z'), date('21200101000000Z')),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions)),
    );
    const signature = createSign('sha256').update(body).sign(pair.privateKey);
    const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
    const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  };
  return {
    cert: signed(issuer, pair.publicKey, authority(), forHosts([])),
    key: pem(pair.privateKey),
    issue: (...hosts) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      return {
        cert: signed(nameOf(hosts[0] ?? 'server'), own.publicKey, forHosts(hosts)),
        key: pem(own.privateKey),
      };
    },
  };
}

const algorithm = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(objectId([0x55, 0x04, 0x03]), tagged(0x0c, Buffer.from(commonName)))));
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function authority(): Buffer {
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  return sequence(objectId([0x55, 0x1d, 0x13]), tagged(0x04, isAuthority));
}

function forHosts(hosts: readonly string[]): Buffer {
  const names = ['localhost', ...hosts].map((host) => tagged(0x82, Buffer.from(host)));
  const loopback = tagged(0x87, Buffer.from([127, 0, 0, 1]));
  return sequence(objectId([0x55, 0x1d, 0x11]), tagged(0x04, sequence(loopback, ...names)));
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
