// How agents of one cloud write and read a CiliumNode: everything in which the agents of two clouds differ.
import type { ExclusionRule, InterfaceStatus } from '../interface-status.ts';
import type { JsonObject } from '../json.ts';
import type { NodeFacts, Protocol } from '../node-facts.ts';

export interface AgentCloud {
  /** The Node's provider ID, in the form that the cloud's controller writes. */
  readonly providerIdOf: (facts: NodeFacts) => string;
  /** The part of the spec that an agent writes for its cloud alone. It replaces what is there. */
  readonly announced: (facts: NodeFacts) => JsonObject;
  /** Whether an agent can decode the object. For the agent, one that it cannot decode does not exist. */
  readonly isReadable: (node: JsonObject) => boolean;
  /** The interfaces that the status shows to an agent of this protocol, in a fixed order. */
  readonly interfacesOf: (node: JsonObject, protocol: Protocol) => readonly InterfaceStatus[];
  readonly exclusionOf: (node: JsonObject) => ExclusionRule;
  /** The lowest device index of an interface that carries pods. */
  readonly firstInterfaceIndexOf: (facts: NodeFacts) => number;
  /** Whether pods use the primary addresses of interfaces that carry pods. */
  readonly usesPrimaryAddresses: boolean;
  /** The status as an agent of this protocol writes it back: without the fields that it does not know. */
  readonly writtenBack: (status: JsonObject, protocol: Protocol) => JsonObject;
  /** Why a multi-pool agent sets up no interface that is new to it; undefined if nothing keeps it from that. */
  readonly setUpObstacle: (node: JsonObject) => string | undefined;
  /** Whether a multi-pool agent starts only once the status names a CIDR of the network. */
  readonly awaitsCidr: boolean;
  /** The network of the node as its CiliumNode says it; empty if it does not. */
  readonly networkOf: (node: JsonObject) => string;
}
