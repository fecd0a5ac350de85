// Hands the options that apply to every node to the code of a node, as its settings.
import type { Options } from '../config/option-table.ts';
import type { NodeContext } from '../node/reconcile/node-context.ts';

export function nodeOptions(
  options: Options,
): Pick<NodeContext, 'timing' | 'releasePolicy' | 'spreadCalls' | 'assessmentOptions'> {
  return {
    timing: { callTimeout: options.cloudCallTimeout, consistencyWindow: options.consistencyWindow },
    releasePolicy: {
      enabled: options.awsReleaseExcessIps,
      delay: options.excessIpReleaseDelay,
      hiddenFor: options.releaseQuarantine,
      idleDelay: idleDelayOf(options),
    },
    spreadCalls: options.spreadCloudCalls,
    assessmentOptions: {
      usePrimaryAddress: options.awsUsePrimaryAddress,
      prefixDelegation: options.awsEnablePrefixDelegation,
      networkId: options.vpcId,
    },
  };
}

/** Without releases, Headwater never emptied an interface, so none is idle because of it. */
function idleDelayOf({ awsReleaseExcessIps, idleInterfaceDelay }: Options): number | undefined {
  return awsReleaseExcessIps && idleInterfaceDelay > 0 ? idleInterfaceDelay : undefined;
}
