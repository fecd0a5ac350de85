// The only file that imports the SDK of Entra identities.
import {
  ChainedTokenCredential,
  EnvironmentCredential,
  ManagedIdentityCredential,
  type TokenCredentialOptions,
  WorkloadIdentityCredential,
} from '@azure/identity';

export interface IdentityOptions extends Pick<TokenCredentialOptions, 'httpClient'> {
  /** URL; undefined: what the environment says (AZURE_AUTHORITY_HOST), else the public cloud. */
  readonly authority: string | undefined;
  /** Whether the authority is taken as it is, without asking the public cloud about it. */
  readonly isAuthorityKnown: boolean;
  /** The client id of a managed identity, which then is the only one that is tried. */
  readonly managedIdentity: string | undefined;
}

export type Credential = Pick<ChainedTokenCredential, 'getToken'>;

/**
 * The environment, then workload identity, then the managed identity of the instance. Each credential keeps its tokens.
 * No other source is tried: on a server, developer tools would only delay the error.
 */
export function credentialOf(options: IdentityOptions): Credential {
  const { authority, isAuthorityKnown, managedIdentity, httpClient } = options;
  const shared = {
    retryOptions: { maxRetries: 0 },
    ...(httpClient !== undefined && { httpClient }),
    ...(authority !== undefined && { authorityHost: authority }),
  };
  if (managedIdentity !== undefined)
    return new ManagedIdentityCredential({ ...shared, clientId: managedIdentity });
  const known = { ...shared, disableInstanceDiscovery: isAuthorityKnown };
  return new ChainedTokenCredential(
    new EnvironmentCredential(known),
    onceNeeded(() => new WorkloadIdentityCredential(known)),
    new ManagedIdentityCredential(shared),
  );
}

/** Made without its part of the environment, a credential throws; asked for a token, it lets the next one try. */
function onceNeeded(make: () => Credential): Credential {
  let made: Credential | undefined;
  return {
    getToken: async (...scopes) => {
      made ??= make();
      return made.getToken(...scopes);
    },
  };
}
