// Hands the options that apply to every node to the code of a node, as its settings.
import { cloudSettings } from '../../config/clouds/clouds.ts';
import type { Options } from '../../config/option-table.ts';
import type { NodeSettings } from '../../node/reconcile/node-context.ts';

export function nodeOptions(options: Options): Omit<NodeSettings, 'interfaceTags' | 'formerUntil'> {
  const settings = cloudSettings(options);
  return {
    timing: { callTimeout: options.cloudCallTimeout, consistencyWindow: options.consistencyWindow },
    release: {
      enabled: settings.releaseExcessIps,
      delay: options.excessIpReleaseDelay,
      hiddenFor: options.releaseQuarantine,
      idleDelay: settings.idleInterfaceDelay,
    },
    spreadCalls: options.spreadCloudCalls,
    assessment: {
      usePrimaryAddress: settings.usePrimaryAddress,
      prefixDelegation: settings.prefixDelegation,
      networkId: settings.scope.networkId,
      othersInterfaceTags: options.excludeInterfaceTags,
      sparesOthers: settings.sparesOthers,
    },
  };
}
