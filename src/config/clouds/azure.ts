import type { CloudDescriptor } from './cloud-descriptor.ts';

interface AzureOptions {
  readonly azureReleaseExcessIps: boolean;
  readonly azureUsePrimaryAddress: boolean;
  readonly azureOfferedConfigurations: string;
}

export const azure: CloudDescriptor<AzureOptions> = {
  interfaces: 'given',
  ipv6: false,
  nodeClass: { kind: 'AKSNodeClass', maxPods: ['spec', 'maxPods'] },
  // https://learn.microsoft.com/azure/aks/quotas-skus-regions
  mostPods: { count: 250, by: 'AKS' },
  otherAllocator: { name: 'azure-cns', selector: 'k8s-app=azure-cns' },
  releaseOption: 'azure-release-excess-ips',
  firstCalls: {
    what: 'a read and an update',
    budgets: [
      { perSecond: 25, burst: 250 }, // reads of a subscription
      { perSecond: 500 / 60, burst: 1500 }, // VirtualMachineScaleSetVMs.Update
    ],
  },
  settings: (options) => ({
    releaseExcessIps: options.azureReleaseExcessIps,
    // The interfaces of an instance are its own: Headwater makes and deletes none.
    idleInterfaceDelay: undefined,
    usePrimaryAddress: options.azureUsePrimaryAddress,
    prefixDelegation: false,
    sparesOthers: options.azureOfferedConfigurations === 'own',
    scope: { networkId: undefined },
    collection: { kind: 'off' },
  }),
  newNode: { providerId: /^azure:\/\/(.+)$/, ignoresCase: true },
};
