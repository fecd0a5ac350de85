// The records of Azure Resource Manager, as plain immutable data. `id` is the key (the path in lower case), `path` the
// resource id as it was spelled first.
import type { JsonObject } from '../workload/json.ts';
import type { MachinePlan } from './arm-topology-schema.ts';

export type ProvisioningState = 'Creating' | 'Updating' | 'Succeeded' | 'Failed' | 'Deleting';

export type PowerState = 'running' | 'deallocating' | 'deallocated' | 'starting';

interface Resource {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly etag: string;
  readonly state: ProvisioningState;
}

export interface VirtualNetwork extends Resource {
  readonly blocks: readonly string[];
}

export interface ArmSubnet extends Resource {
  readonly networkId: string;
  readonly block: string;
  /** Without `addressPrefix`: only the list `addressPrefixes` is shown. */
  readonly listed: boolean;
  readonly otherPrefixes: readonly string[];
}

export interface PublicIpPrefix extends Resource {
  readonly block: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** An address out of a prefix, which belongs to a configuration. */
export interface PublicAddress {
  /** The key of it, below its configuration. */
  readonly id: string;
  readonly path: string;
  readonly prefixId: string;
  readonly address: string;
}

export interface ScaleSet extends Resource {
  readonly mode: 'Uniform' | 'Flexible';
  /** Everything a client wrote: `location`, `sku`, `tags`, `properties`. */
  readonly model: JsonObject;
  /** The plan of its machines. */
  readonly plan: MachinePlan;
  /** How many machines it ever had: the number of the next one. */
  readonly made: number;
}

export interface Machine extends Resource {
  /** The scale set that it is an instance of. */
  readonly scaleSetId?: string;
  /** Its number in a Uniform scale set; a machine of its own has none. */
  readonly instanceId?: string;
  readonly vmId: string;
  /** Everything a client wrote; unknown fields included. */
  readonly model: JsonObject;
  readonly power: PowerState;
  readonly latestModelApplied: boolean;
  /** Keys, in the order of the machine. */
  readonly interfaceIds: readonly string[];
  /** The operation that is changing it. */
  readonly operationId?: string;
  /** The change that failed last. */
  readonly failure?: { readonly code: string; readonly message: string };
  readonly made: number;
}

export interface ArmInterface extends Resource {
  readonly machineId?: string;
  readonly isPrimary: boolean;
  /** `02-..` as Azure writes it; none until its machine has started once. */
  readonly mac: string;
  /** The model that a client wrote, without the configurations: `properties` and, for one of its own, `location` and `tags`. */
  readonly model: JsonObject;
  readonly configurations: readonly Configuration[];
  readonly resourceGuid: string;
  readonly operationId?: string;
}

/** One configuration of an interface: a name and, as soon as it is accepted, an address. */
export interface Configuration {
  readonly name: string;
  readonly subnetId: string;
  readonly isPrimary: boolean;
  /** None for IPv6, which this model does not hand out. */
  readonly address?: string;
  readonly state: ProvisioningState;
  readonly etag: string;
  /** The properties that a client wrote. */
  readonly properties: JsonObject;
}
