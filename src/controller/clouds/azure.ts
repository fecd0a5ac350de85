// Composes the Azure provider around an API implementation: the real SDK, or a model in the same process. A command hands
// this function to the controller as `composeCloud`.
import type { Options } from '../../config/option-table.ts';
import type { ArmApi } from '../../providers/azure/arm-api.ts';
import { azureAllocation } from '../../providers/azure/azure-allocation.ts';
import { failureOf } from '../../providers/azure/errors.ts';
import { type InstanceRef, instanceIdOf } from '../../providers/azure/ids.ts';
import { azureLimits } from '../../providers/azure/limits.ts';
import type { OperatorInstruments } from './call-instruments.ts';
import type { Cloud, CloudDeps } from './cloud.ts';
import { composeCalls } from './cloud-calls.ts';

export interface AzureConnection {
  readonly api: ArmApi;
  /** The name of the cloud, for people. */
  readonly cloud: string;
  /** Where this process runs, if that is known. */
  readonly place: Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'> | undefined;
}

export function composeAzure({ api, cloud, place }: AzureConnection, deps: CloudDeps): Cloud {
  const { options, clock, metrics } = deps;
  const operatorInstruments: OperatorInstruments = {
    duration: metrics.cilium_operator_azure_api_duration_seconds,
    wait: metrics.cilium_operator_azure_api_rate_limit_duration_seconds,
    responseCode: ({ failure }) => (failure === undefined ? 'OK' : 'Failed'),
  };
  const { gate, ...calls } = composeCalls({ operatorInstruments, limits: azureLimits, failureOf }, deps);
  return {
    ...calls,
    instanceIdOf,
    implementation: azureAllocation({
      api,
      gate,
      clock,
      consistencyWindow: options.consistencyWindow,
      place,
      isInScope: scopeOf(options),
    }),
    // Interfaces come with their VMs; Headwater makes none.
    interfaceTags: {},
    belongingTags: {},
    describe: () => Promise.resolve({ scope: describeScope(options, { cloud, place }) }),
  };
}

/** Options that name nothing restrict nothing. Case does not count. */
function scopeOf({ azureSubscriptionId, azureResourceGroup }: Options): (instance: InstanceRef) => boolean {
  const subscriptions = new Set(azureSubscriptionId.map((id) => id.toLowerCase()));
  const groups = new Set(azureResourceGroup.map((name) => name.toLowerCase()));
  return ({ subscriptionId, resourceGroup }) =>
    (subscriptions.size === 0 || subscriptions.has(subscriptionId)) &&
    (groups.size === 0 || groups.has(resourceGroup));
}

function describeScope(
  { azureSubscriptionId, azureResourceGroup }: Options,
  { cloud, place }: Omit<AzureConnection, 'api'>,
): string {
  const subscriptions =
    azureSubscriptionId.length > 0 ? azureSubscriptionId : [place?.subscriptionId ?? []].flat();
  const groups = azureResourceGroup.length > 0 ? [`resource groups ${azureResourceGroup.join(', ')}`] : [];
  const named = subscriptions.length > 0 ? [`subscription ${subscriptions.join(', ')}`] : [];
  return [cloud, ...named, ...groups].join(', ');
}
