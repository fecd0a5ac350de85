// Parses a topology of Azure. Returns a validated one or all problems at once; builds nothing.
import { cloudOf, readDocument } from '../cloud/topology.ts';
import { disagreements } from './arm-topology-checks.ts';
import { type ArmTopology, armTopologySchema } from './arm-topology-schema.ts';

export type { ArmTopology } from './arm-topology-schema.ts';

export type ReadArmTopology = { readonly topology: ArmTopology } | { readonly problems: readonly string[] };

/** Whether a topology is one of Azure. */
export function namesAzure(text: string): boolean {
  return cloudOf(text) === 'azure';
}

/** Parses YAML or JSON. Each problem names the path, what is expected there and what was found. */
export function readArmTopology(text: string): ReadArmTopology {
  return readDocument(text, armTopologySchema, disagreements);
}
