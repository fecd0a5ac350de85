// Error codes of Node.js's TLS by which a certificate is refused. Whatever ends with one of them was never sent.

/** Nobody known vouches for it: somebody can configure that away. */
export const unknownAuthority: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** It is not one that we trust, for whatever reason. */
export const untrustedCertificate: ReadonlySet<unknown> = new Set([
  ...unknownAuthority,
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
