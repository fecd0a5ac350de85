// How a controller in a process of its own finds a served model of Azure or of Alibaba Cloud.
import type { AlibabaTopology } from '../src/simulator/alibaba/alibaba-topology.ts';
import type { ArmTopology } from '../src/simulator/arm/arm-topology.ts';
import type { CloudAccess } from './controller-process.ts';

interface ServedUrls {
  readonly url: string;
  readonly metadataUrl: string;
}

/** As the first principal, whose secret it has. `caFile`: the authority of the server, as PEM. */
export function accessToAzure(
  { url, metadataUrl }: ServedUrls,
  { tenant, principals: [principal] }: Pick<ArmTopology, 'tenant' | 'principals'>,
  caFile: string,
): CloudAccess {
  return {
    flags: ['--ipam=azure', `--azure-endpoint=${url}`, `--azure-metadata-endpoint=${metadataUrl}`],
    env: {
      AZURE_AUTHORITY_HOST: url,
      AZURE_TENANT_ID: tenant,
      AZURE_CLIENT_ID: principal?.clientId ?? '',
      AZURE_CLIENT_SECRET: principal?.secret ?? '',
      NODE_EXTRA_CA_CERTS: caFile,
    },
  };
}

/** With the first keys. The metadata service says the region. */
export function accessToAlibaba(
  { url, metadataUrl }: ServedUrls,
  { credentials: [credential] }: Pick<AlibabaTopology, 'credentials'>,
): CloudAccess {
  return {
    flags: [
      '--ipam=alibabacloud',
      `--alibaba-cloud-endpoint=${url}`,
      `--alibaba-cloud-metadata-endpoint=${metadataUrl}`,
    ],
    env: {
      ALIBABA_CLOUD_ACCESS_KEY_ID: credential?.accessKeyId ?? '',
      ALIBABA_CLOUD_ACCESS_KEY_SECRET: credential?.accessKeySecret ?? '',
    },
  };
}
