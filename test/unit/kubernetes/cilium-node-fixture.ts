// A complete CiliumNode, as an agent on AWS and a controller write it, and ways to spoil it.
import type { Json, JsonObject } from '../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../src/kubernetes/transport/merge-patch.ts';

const wellFormed: JsonObject = {
  apiVersion: 'cilium.io/v2',
  kind: 'CiliumNode',
  metadata: {
    name: 'node-1',
    uid: 'a2d1c5e0-0000-4000-8000-000000000001',
    resourceVersion: '4711',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid-1' }],
    managedFields: [{ manager: 'cilium-agent' }],
  },
  spec: {
    'instance-id': 'i-0123',
    addresses: [{ type: 'InternalIP', ip: '10.0.0.9' }],
    eni: {
      'instance-type': 'm5.large',
      'vpc-id': 'vpc-1',
      'availability-zone': 'us-west-2a',
      'node-subnet-id': 'subnet-1',
      'first-interface-index': 1,
      'security-groups': ['sg-1'],
      'subnet-tags': { tier: 'pods' },
      'delete-on-termination': false,
    },
    ipam: {
      pool: { '10.0.0.1': { resource: 'eni-1' }, '10.0.0.2': { resource: 'eni-1' } },
      'pre-allocate': 8,
      'min-allocate': 4,
      pools: {
        requested: [{ pool: 'default', needed: { 'ipv4-addrs': 12 } }],
        allocated: [{ pool: 'default', cidrs: ['10.0.0.1/32', '10.0.1.0/28'] }],
      },
    },
  },
  status: {
    eni: {
      enis: {
        'eni-1': {
          id: 'eni-1',
          ip: '10.0.0.9',
          addresses: ['10.0.0.1', '10.0.0.2'],
          prefixes: ['10.0.1.0/28'],
        },
      },
    },
    ipam: {
      used: { '10.0.0.1': { owner: 'default/web', resource: 'eni-1' } },
      'release-ips': { '10.0.0.2': 'ready-for-release' },
      'operator-status': { error: 'no room' },
      'assigned-static-ip': '203.0.113.7',
    },
  },
};

/** The well-formed node after a merge patch. */
export function ciliumNode(patch: JsonObject = {}): JsonObject {
  return applyMergePatch(wellFormed, patch) as JsonObject;
}

/** The well-formed node with `value` at `path`, which may lead into lists. */
export function spoiled(path: readonly (string | number)[], value: Json | undefined): JsonObject {
  const copy = structuredClone(wellFormed) as Record<string | number, unknown>;
  let place = copy;
  for (const part of path.slice(0, -1)) place = (place[part] ??= {}) as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy as JsonObject;
}
