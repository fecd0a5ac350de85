// The differences between the clouds that share this engine.
import { type InstanceType, instanceTypes, ipv4PerDetachedInterface } from './instance-types.ts';

export interface CloudRules {
  /** Every known type, by name. */
  readonly instanceTypes: ReadonlyMap<string, InstanceType>;
  /** The most addresses and prefixes of an interface that is not attached, the primary address included. */
  readonly ipv4PerDetachedInterface: number;
  /** Addresses of a subnet of that size that belong to the cloud, counted from its first one. */
  readonly reservedOffsets: (size: number) => readonly number[];
}

/**
 * The first four addresses and the last address of a subnet belong to EC2, and to Azure
 * (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html).
 */
export const ec2Rules: CloudRules = {
  instanceTypes,
  ipv4PerDetachedInterface,
  reservedOffsets: (size) => [0, 1, 2, 3, size - 1],
};
