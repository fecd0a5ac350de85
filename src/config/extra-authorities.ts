// Reads the certificate authorities to trust in addition to those of Node.js.
import { X509Certificate } from 'node:crypto';
import { failureInWords } from './failure-in-words.ts';
import type { ProcessEnvironment } from './option-row.ts';

export type ExtraAuthorities =
  /** PEM each. */
  | { readonly kind: 'certificates'; readonly certificates: readonly string[] }
  /** `because` is worded to follow "refused because". */
  | { readonly kind: 'refused'; readonly because: string };

export const acceptedAuthorities =
  'a readable file of certificates as PEM, each between BEGIN CERTIFICATE and END CERTIFICATE';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export function readExtraAuthorities(
  path: string | undefined,
  { readFile }: Pick<ProcessEnvironment, 'readFile'>,
): ExtraAuthorities {
  if (path === undefined) return { kind: 'certificates', certificates: [] };
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    return { kind: 'refused', because: failureInWords(error) };
  }
  const certificates = text.match(block) ?? [];
  if (certificates.length === 0) return { kind: 'refused', because: 'it holds no certificate as PEM' };
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate));
  return broken === -1
    ? { kind: 'certificates', certificates }
    : { kind: 'refused', because: `certificate ${broken + 1} in it cannot be read` };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
