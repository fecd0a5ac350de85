// CiliumNodes as the API serves them, read as the controller reads them.
import type { RestoredState } from '../../../src/providers/contract/cilium-node-section.ts';
import type { CiliumNode } from '../../../src/kubernetes/cilium-node/cilium-node.ts';
import { readCiliumNode } from '../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../src/kubernetes/transport/merge-patch.ts';
import { ciliumNode } from '../kubernetes/cilium-node-fixture.ts';
import { awsSection } from '../../../src/providers/aws/cilium-node-section.ts';
import { networkInterface } from '../providers/interfaces.ts';

export interface NodeParts {
  /** By address. */
  readonly pool?: JsonObject;
  /** Addresses that an interface in the status shows, by its id. */
  readonly enis?: Readonly<Record<string, readonly string[]>>;
  /** Addresses in use, by an agent that is asked. */
  readonly used?: JsonObject;
  /** CIDRs that a multi-pool agent holds; if given, the agent is one. */
  readonly allocated?: readonly string[];
  /** `status.ipam.release-ips`. */
  readonly handshake?: JsonObject;
}

/** The well-formed CiliumNode with only these addresses. */
export function nodeOf({ pool, enis, used, allocated, handshake }: NodeParts): CiliumNode {
  const emptied = ciliumNode({ spec: { ipam: null }, status: null });
  const cidrs = (allocated ?? []).map((cidr) => (cidr.includes('/') ? cidr : `${cidr}/32`));
  const pools = {
    requested: [{ pool: 'default', needed: { 'ipv4-addrs': 8 } }],
    allocated: [{ pool: 'default', cidrs }],
  };
  const shown = Object.entries(enis ?? {}).map(([id, addresses]) => [id, { id, addresses: [...addresses] }]);
  const raw = applyMergePatch(emptied, {
    spec: { ipam: { pool: pool ?? {}, ...(allocated !== undefined && { pools }) } },
    status: {
      eni: { enis: Object.fromEntries(shown) as JsonObject },
      ipam: { used: used ?? {}, 'release-ips': handshake ?? {} },
    },
  });
  return wellFormed(raw);
}

export function wellFormed(raw: unknown): CiliumNode {
  const reading = readCiliumNode(raw, awsSection);
  if (reading.kind !== 'node') throw new Error(JSON.stringify(reading.problems));
  return reading.node;
}

/** Restores from the status what `nodeOf` shows there. */
export const restoring = { ...awsSection, restore };

function restore(_: string, status: unknown): RestoredState {
  const { enis = {} } = status as { enis?: Readonly<Record<string, { addresses: readonly string[] }>> };
  const interfaces = Object.entries(enis).map(([id, { addresses }]) => networkInterface({ id, addresses }));
  return { interfaces, subnets: new Map(), networks: new Map() };
}
