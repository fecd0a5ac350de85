// Parses a topology of Alibaba Cloud. Returns a validated one or all problems at once; builds nothing.
import { cloudOf, readDocument } from '../cloud/topology.ts';
import { disagreements } from './alibaba-topology-checks.ts';
import { type AlibabaTopology, alibabaTopologySchema } from './alibaba-topology-schema.ts';

export type { AlibabaTopology } from './alibaba-topology-schema.ts';

export type ReadAlibabaTopology =
  | { readonly topology: AlibabaTopology }
  | { readonly problems: readonly string[] };

/** Whether a topology is one of Alibaba Cloud. */
export function namesAlibaba(text: string): boolean {
  return cloudOf(text) === 'alibabacloud';
}

/** Parses YAML or JSON. Each problem names the path, what is expected there and what was found. */
export function readAlibabaTopology(text: string): ReadAlibabaTopology {
  return readDocument(text, alibabaTopologySchema, disagreements);
}
