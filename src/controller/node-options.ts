// Hands the options that apply to every node to the code of a node, as its settings.
import { cloudSettings } from '../config/cloud-settings.ts';
import type { Options } from '../config/option-table.ts';
import type { NodeContext } from '../node/reconcile/node-context.ts';

export function nodeOptions(
  options: Options,
): Pick<NodeContext, 'timing' | 'releasePolicy' | 'spreadCalls' | 'assessmentOptions'> {
  const settings = cloudSettings(options);
  return {
    timing: { callTimeout: options.cloudCallTimeout, consistencyWindow: options.consistencyWindow },
    releasePolicy: {
      enabled: settings.releaseExcessIps,
      delay: options.excessIpReleaseDelay,
      hiddenFor: options.releaseQuarantine,
      idleDelay: settings.idleInterfaceDelay,
    },
    spreadCalls: options.spreadCloudCalls,
    assessmentOptions: {
      usePrimaryAddress: settings.usePrimaryAddress,
      prefixDelegation: settings.prefixDelegation,
      networkId: settings.scope.networkId,
    },
  };
}
