// Asks STS for the account of the credentials. The answer is only for people and never a condition. Loaded on
// first use.
import { GetCallerIdentityCommand, STSClient, type STSClientConfig } from '@aws-sdk/client-sts';

export interface StsOptions extends Pick<STSClientConfig, 'region' | 'credentials' | 'requestHandler'> {
  /** The EC2 endpoint; undefined if the SDK chooses it. */
  readonly ec2Endpoint: string | undefined;
  /** Whether the environment sets an STS endpoint (AWS_ENDPOINT_URL_STS), which the SDK reads. */
  readonly hasOwnEndpoint: boolean;
}

/** The account of the credentials. Rejects as the SDK does. Leaves the shared request handler open. */
export async function readAccount(options: StsOptions, signal: AbortSignal): Promise<string | undefined> {
  const { ec2Endpoint, hasOwnEndpoint, ...shared } = options;
  const endpoint = hasOwnEndpoint ? undefined : stsEndpointBeside(ec2Endpoint);
  const client = new STSClient({
    ...shared,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 1,
    customUserAgent: 'headwater',
  });
  const { Account: account } = await client.send(new GetCallerIdentityCommand({}), { abortSignal: signal });
  return account;
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
