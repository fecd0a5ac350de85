// Lists Node.js TLS error codes that reject a certificate. A request that fails with one was never sent.

/** No known authority vouches for the certificate; configuration can fix that. */
export const unknownAuthority: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The certificate is not trusted, for any reason. */
export const untrustedCertificate: ReadonlySet<unknown> = new Set([
  ...unknownAuthority,
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
