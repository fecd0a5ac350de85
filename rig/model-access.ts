// How a controller in a process of its own finds a served model of Azure.
import type { ArmTopology } from '../src/simulator/arm/arm-topology.ts';
import type { CloudAccess } from './controller-process.ts';

/** As the first principal, whose secret it has. `caFile`: the authority of the server, as PEM. */
export function accessToAzure(
  { url, metadataUrl }: { readonly url: string; readonly metadataUrl: string },
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
