// Connects to Azure Resource Manager: chooses cloud, endpoint, identity and proxy.
import type { Options } from '../../config/option-table.ts';
import { AzureApi } from '../../providers/azure/azure-api.ts';
import { type AzureCloudName, azureClouds, isAzureCloudName } from '../../providers/azure/azure-clouds.ts';
import { type Whereabouts, whereaboutsOfInstance } from '../../providers/azure/instance-metadata.ts';
import type { AzureConnection } from './azure.ts';
import { type CloudConnection, NotStartable, wayOut } from './cloud.ts';

/** Throws NotStartable. */
export async function connectToAzure(
  connection: CloudConnection,
  signal: AbortSignal,
): Promise<AzureConnection & { readonly api: AzureApi }> {
  const { options, environment, log } = connection;
  const { azureEndpoint: endpoint } = options;
  if (endpoint?.startsWith('http:') === true)
    throw unusable('name an https endpoint by --azure-endpoint: tokens are sent only over TLS');
  const own = await ownWhereabouts(connection, signal);
  const cloud = cloudFor(options, own);
  const { management, audience, authority } = azureClouds[cloud];
  const place = placeFor(options, own);
  log.info('using Azure', { cloud, endpoint: endpoint ?? management, ...place });
  const api = new AzureApi({
    cloud: { management, audience, authority },
    endpoint,
    identity: {
      authority: (environment['AZURE_AUTHORITY_HOST'] ?? '') === '' ? authority : undefined,
      isAuthorityKnown: endpoint !== undefined,
      managedIdentity: options.azureUserAssignedIdentityId,
    },
    http: wayOut(connection, 'Azure'),
  });
  return { api, cloud, place };
}

/** Undefined if the options say everything, or if the metadata service does not answer. */
async function ownWhereabouts(
  { options, log }: CloudConnection,
  signal: AbortSignal,
): Promise<Whereabouts | undefined> {
  const { azureCloud, azureMetadataEndpoint } = options;
  if (azureCloud !== undefined && placeFor(options, undefined) !== undefined) return undefined;
  try {
    return await whereaboutsOfInstance(azureMetadataEndpoint, signal);
  } catch (error) {
    log.info('the instance metadata service does not say where this is', { error });
    return undefined;
  }
}

/** Without any word, the public cloud: the only one in which most have never heard of others. */
function cloudFor({ azureCloud, azureEndpoint }: Options, own: Whereabouts | undefined): AzureCloudName {
  if (azureCloud !== undefined) return azureCloud;
  if (own === undefined) return 'AzurePublicCloud';
  if (isAzureCloudName(own.cloud)) return own.cloud;
  if (azureEndpoint !== undefined) return 'AzurePublicCloud';
  const known = Object.keys(azureClouds).join(', ');
  throw unusable(
    `the instance metadata service names the cloud ${JSON.stringify(own.cloud)}, which Headwater does not know: set --azure-cloud to one of ${known}, or --azure-endpoint`,
  );
}

/**
 * The resource that is read to see whether Azure answers. With several subscriptions, the options do not say which one
 * has a resource group, and a group is read only where it is sure to exist.
 */
function placeFor(
  { azureSubscriptionId: subscriptions, azureResourceGroup: groups }: Options,
  own: Whereabouts | undefined,
): AzureConnection['place'] {
  if (own !== undefined && names(subscriptions, own.subscriptionId) && names(groups, own.resourceGroup))
    return { subscriptionId: own.subscriptionId, resourceGroup: own.resourceGroup };
  const [subscriptionId = own?.subscriptionId] = subscriptions;
  const [resourceGroup] = groups;
  if (subscriptionId === undefined || resourceGroup === undefined || subscriptions.length > 1)
    return undefined;
  return { subscriptionId, resourceGroup };
}

/** Options that name nothing restrict nothing. Case does not count. */
function names(named: readonly string[], text: string): boolean {
  return named.length === 0 || named.some((each) => each.toLowerCase() === text.toLowerCase());
}

function unusable(problem: string): NotStartable {
  return new NotStartable(problem, { kind: 'usage' });
}
