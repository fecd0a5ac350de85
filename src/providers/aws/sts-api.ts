// Asks STS for the account of the credentials, which is only for people and never a condition, and for the keys of a role. Loaded
// on first use.
import {
  AssumeRoleCommand,
  GetCallerIdentityCommand,
  STSClient,
  type STSClientConfig,
} from '@aws-sdk/client-sts';
import type { AssumedRole } from './shared-subnet-tags.ts';

export interface StsOptions extends Pick<STSClientConfig, 'region' | 'credentials' | 'requestHandler'> {
  /** The EC2 endpoint; undefined if the SDK chooses it. */
  readonly ec2Endpoint: string | undefined;
  /** Whether the environment sets an STS endpoint (AWS_ENDPOINT_URL_STS), which the SDK reads. */
  readonly hasOwnEndpoint: boolean;
}

/** The account of the credentials. Rejects as the SDK does. Leaves the shared request handler open. */
export async function readAccount(options: StsOptions, signal: AbortSignal): Promise<string | undefined> {
  const command = new GetCallerIdentityCommand({});
  const { Account: account } = await clientOf(options).send(command, { abortSignal: signal });
  return account;
}

export interface TemporaryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** When they end; undefined if STS does not say. */
  readonly expiration?: Date;
}

/** Keys of the role, for an hour. Rejects as the SDK does. Leaves the shared request handler open. */
export async function assumeRole(
  options: StsOptions,
  { arn, externalId }: AssumedRole,
  signal: AbortSignal,
): Promise<TemporaryKeys> {
  const command = new AssumeRoleCommand({
    RoleArn: arn,
    RoleSessionName: 'headwater',
    ...(externalId !== undefined && { ExternalId: externalId }),
  });
  const { Credentials: keys } = await clientOf(options).send(command, { abortSignal: signal });
  const { AccessKeyId: id, SecretAccessKey: secret, SessionToken: token, Expiration: end } = keys ?? {};
  if (id === undefined || secret === undefined || token === undefined)
    throw Object.assign(new Error('STS answers without keys'), { name: 'CredentialsProviderError' });
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    sessionToken: token,
    ...(end !== undefined && { expiration: end }),
  };
}

function clientOf({ ec2Endpoint, hasOwnEndpoint, ...shared }: StsOptions): STSClient {
  const endpoint = hasOwnEndpoint ? undefined : stsEndpointBeside(ec2Endpoint);
  return new STSClient({
    ...shared,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 1,
    customUserAgent: 'headwater',
  });
}

/**
 * An emulator serves STS at its EC2 endpoint, so no request should reach AWS. A VPC endpoint of EC2 serves
 * only EC2: STS has its own endpoint or its public name.
 */
export function stsEndpointBeside(ec2Endpoint: string | undefined): string | undefined {
  const host = ec2Endpoint === undefined ? undefined : URL.parse(ec2Endpoint)?.hostname;
  if (host === undefined || /\.(amazonaws\.com(\.cn)?|api\.aws)$/.test(host)) return undefined;
  return ec2Endpoint;
}
