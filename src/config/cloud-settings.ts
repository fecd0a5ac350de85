// Compiles the options of the chosen cloud into settings that have one name for all clouds. The core reads these, and no
// option of a cloud. Pure.
import type { CloudMode } from './option-row.ts';
import type { Options } from './option-table.ts';
import { type CollectionDecision, collectionOf } from './orphan-collection.ts';

export interface CloudSettings {
  /** Release addresses beyond the watermarks. */
  readonly releaseExcessIps: boolean;
  /** How long an interface must be without pod addresses before it is deleted, in ms; undefined keeps it. */
  readonly idleInterfaceDelay: number | undefined;
  /** Let pods use the primary address of an interface, unless a node's spec says otherwise. */
  readonly usePrimaryAddress: boolean;
  /** Assign prefixes instead of single addresses, unless a node's spec says otherwise. */
  readonly prefixDelegation: boolean;
  /** Give pods no addresses that others made. */
  readonly sparesOthers: boolean;
  /** Which nodes are served. */
  readonly scope: {
    /** Undefined: those of every network. */
    readonly networkId: string | undefined;
  };
  /** Whether orphaned interfaces are deleted. */
  readonly collection: CollectionDecision;
}

const settingsOf: Readonly<Record<CloudMode, (options: Options) => CloudSettings>> = {
  eni: (options) => ({
    releaseExcessIps: options.awsReleaseExcessIps,
    idleInterfaceDelay: idleDelayOf(options),
    usePrimaryAddress: options.awsUsePrimaryAddress,
    prefixDelegation: options.awsEnablePrefixDelegation,
    sparesOthers: false,
    scope: { networkId: options.vpcId },
    collection: collectionOf(options),
  }),
  azure: (options) => ({
    releaseExcessIps: options.azureReleaseExcessIps,
    // The interfaces of an instance are its own: Headwater makes and deletes none.
    idleInterfaceDelay: undefined,
    usePrimaryAddress: options.azureUsePrimaryAddress,
    prefixDelegation: false,
    sparesOthers: options.azureOfferedConfigurations === 'own',
    scope: { networkId: undefined },
    collection: { kind: 'off' },
  }),
  alibabacloud: (options) => ({
    releaseExcessIps: options.alibabaCloudReleaseExcessIps,
    // Pods may use the primary address of each, which cannot be unassigned: none is ever idle.
    idleInterfaceDelay: undefined,
    // Pods have used the primary addresses of secondary interfaces ever since cilium-operator offers them.
    usePrimaryAddress: true,
    prefixDelegation: false,
    sparesOthers: false,
    scope: { networkId: options.alibabaCloudVpcId },
    collection: collectionOf(options),
  }),
};

/** Without releases, Headwater never emptied an interface, so none is idle because of it. */
function idleDelayOf({ awsReleaseExcessIps, idleInterfaceDelay }: Options): number | undefined {
  return awsReleaseExcessIps && idleInterfaceDelay > 0 ? idleInterfaceDelay : undefined;
}

/** Only for the mode of a cloud. */
export function cloudSettings(options: Options): CloudSettings {
  const { ipam } = options;
  if (ipam === 'cluster-pool' || ipam === 'multi-pool') throw new Error('blocks to nodes have no cloud');
  return settingsOf[ipam](options);
}
