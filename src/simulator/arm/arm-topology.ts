// Parses a topology of Azure. Returns a validated one or all problems at once; builds nothing.
import { armTopologySchema, type ArmTopology } from './arm-topology-schema.ts';
import { readDocument } from '../cloud/topology.ts';

export type { ArmTopology } from './arm-topology-schema.ts';

export type ReadArmTopology = { readonly topology: ArmTopology } | { readonly problems: readonly string[] };

/** Parses YAML or JSON. Each problem names the path, what is expected there and what was found. */
export function readArmTopology(text: string): ReadArmTopology {
  return readDocument(text, armTopologySchema, () => []);
}
