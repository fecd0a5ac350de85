// Connects to ECS and VPC: chooses region, endpoint and proxy.
import { AlibabaApi } from '../../providers/alibaba/alibaba-api.ts';
import { regionOfInstance } from '../../providers/alibaba/instance-metadata.ts';
import type { AlibabaConnection } from './alibaba.ts';
import { type CloudConnection, NotStartable, wayOut } from './cloud.ts';

/** Throws NotStartable. */
export async function connectToAlibaba(
  connection: CloudConnection,
  signal: AbortSignal,
): Promise<AlibabaConnection & { readonly api: AlibabaApi }> {
  const { options, environment, log } = connection;
  const { alibabaCloudEndpoint: endpoint, alibabaCloudEcsEndpoint, alibabaCloudVpcEndpoint } = options;
  const endpoints = { ecs: alibabaCloudEcsEndpoint ?? endpoint, vpc: alibabaCloudVpcEndpoint ?? endpoint };
  const given = [...new Set(Object.values(endpoints))].filter((each) => each !== undefined);
  const regionId = options.alibabaCloudRegion ?? (await ownRegion(connection, signal));
  log.info('using Alibaba Cloud', {
    region: regionId,
    ...(given.length > 0 && { endpoint: given.join(', ') }),
  });
  for (const plain of given.filter((each) => each.startsWith('http:')))
    log.info('requests to Alibaba Cloud are signed but not encrypted: its endpoint is plain HTTP', {
      endpoint: plain,
    });
  const api = new AlibabaApi({
    regionId,
    endpoints,
    metadataEndpoint: options.alibabaCloudMetadataEndpoint,
    environment,
    http: wayOut(connection, 'Alibaba Cloud'),
  });
  return { api, regionId };
}

async function ownRegion({ options }: CloudConnection, signal: AbortSignal): Promise<string> {
  try {
    return await regionOfInstance(options.alibabaCloudMetadataEndpoint, signal);
  } catch (cause) {
    throw new NotStartable(
      'no region is known, and the instance metadata service does not say one: set --alibaba-cloud-region',
      { cause },
    );
  }
}
