// Reads from the metadata service of an Azure VM where this process runs
// (https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service).
import { askMetadata } from '../../network/metadata-request.ts';
import { text } from './arm-api.ts';
import { type Json } from '../../runtime/json.ts';
import { parseArmId } from './ids.ts';

export interface Whereabouts {
  /** The name of its cloud, which may be new to us. */
  readonly cloud: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
}

/** Timeout, in ms. */
const timeout = 3000;

/**
 * Where the VM is. Rejects if the service does not answer, or answers something else: this is no VM of Azure, or pods
 * cannot reach the service.
 */
export async function whereaboutsOfInstance(endpoint: string, signal: AbortSignal): Promise<Whereabouts> {
  const answer = await askMetadata(
    `${endpoint.replace(/\/$/, '')}/metadata/instance/compute?api-version=2021-02-01&format=json`,
    { headers: { Metadata: 'true' }, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) },
  );
  return readWhereabouts(JSON.parse(answer) as Json);
}

/** Throws if the document lacks what it must contain. */
function readWhereabouts(document: Json): Whereabouts {
  const cloud = text(document, 'azEnvironment') ?? '';
  const subscriptionId = text(document, 'subscriptionId') ?? '';
  const resourceGroup = text(document, 'resourceGroupName') ?? '';
  const path = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/a/b/c`;
  if (cloud === '' || parseArmId(path) === undefined)
    throw new Error('it names no cloud, no subscription or no resource group');
  return { cloud, subscriptionId, resourceGroup };
}
