// Connects to EC2: chooses region, endpoint and proxy.
import { optionTable } from '../../config/option-table.ts';
import { AwsApi } from '../../providers/aws/aws-api.ts';
import { instanceMetadata, regionOfInstance } from '../../providers/aws/instance-metadata.ts';
import { type CloudConnection, NotStartable, wayOut } from './cloud.ts';

/** Throws NotStartable. */
export async function connectToAws(connection: CloudConnection, signal: AbortSignal): Promise<AwsApi> {
  const { options, environment, log } = connection;
  const connect = (region: string | undefined): AwsApi =>
    new AwsApi({
      region,
      endpoint: options.ec2ApiEndpoint,
      hasStsEndpoint: (environment['AWS_ENDPOINT_URL_STS'] ?? '') !== '',
      http: wayOut(connection, 'AWS'),
    });
  const api = connect(options.awsRegion);
  const region = await api.region();
  if (region !== undefined) {
    log.info('using EC2', { region });
    return reachable(api);
  }
  api.close();
  const usual = optionTable['aws-region'].kind.parse(environment['AWS_DEFAULT_REGION']?.trim() ?? '');
  if (typeof usual === 'string') {
    log.info('using EC2 in the region of AWS_DEFAULT_REGION', { region: usual });
    return reachable(connect(usual));
  }
  try {
    const own = await regionOfInstance(instanceMetadata, signal);
    log.info('using EC2 in the region of this instance', { region: own });
    return await reachable(connect(own));
  } catch (cause) {
    if (cause instanceof NotStartable) throw cause;
    const remedy = 'set --aws-region, or AWS_REGION';
    throw new NotStartable(
      `no region is known, and the instance metadata service does not say one: ${remedy}`,
      { cause },
    );
  }
}

/** Fails early: the SDK would reject every call. The error names the setting to change. */
async function reachable(api: AwsApi): Promise<AwsApi> {
  const problem = await api.endpointProblem();
  if (problem === undefined) return api;
  api.close();
  const remedy =
    'name the FIPS or dual-stack endpoint itself by --ec2-api-endpoint and unset AWS_USE_FIPS_ENDPOINT and AWS_USE_DUALSTACK_ENDPOINT (use_fips_endpoint and use_dualstack_endpoint in a profile), or name no endpoint (--ec2-api-endpoint, AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL)';
  throw new NotStartable(`${remedy}: the AWS SDK says "${problem}"`, { kind: 'usage' });
}
