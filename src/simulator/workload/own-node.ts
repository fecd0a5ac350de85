// The CiliumNode that an agent writes at the start. It rewrites all of its cloud's section, keeps watermarks it
// has no setting for, and never touches the parts of others: pool and status.
import { agentCloudOf } from './clouds/known-clouds.ts';
import { type JsonObject, objectAt, withoutZeros } from './json.ts';
import type { IpamWatermarks, NodeFacts } from './node-facts.ts';

export const ciliumNodesPath = '/apis/cilium.io/v2/ciliumnodes';

/** A new CiliumNode object. `nodeUid` is that of its owner Node. */
export function newOwnNode(facts: NodeFacts, nodeUid: string): JsonObject {
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name: facts.name, ownerReferences: [ownerReference(facts.name, nodeUid)] },
    spec: announcedSpec(facts, {}),
  };
}

/** The existing object with this agent's facts. */
export function renewedOwnNode(facts: NodeFacts, nodeUid: string, found: JsonObject): JsonObject {
  return {
    ...found,
    metadata: {
      ...objectAt(found, 'metadata'),
      ownerReferences: [ownerReference(facts.name, nodeUid)],
    },
    spec: announcedSpec(facts, objectAt(found, 'spec')),
  };
}

function ownerReference(name: string, uid: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

function announcedSpec(facts: NodeFacts, previous: JsonObject): JsonObject {
  return {
    ...previous,
    'instance-id': facts.instanceId,
    addresses: [{ type: 'InternalIP', ip: facts.primaryAddress }],
    ...agentCloudOf(facts).announced(facts),
    ipam: { ...objectAt(previous, 'ipam'), ...watermarks(facts.ipam ?? {}) },
  };
}

/** Only set values: zero lets others set it. */
function watermarks(ipam: IpamWatermarks): JsonObject {
  return withoutZeros({
    'min-allocate': ipam.minAllocate,
    'max-allocate': ipam.maxAllocate,
    'pre-allocate': ipam.preAllocate,
    'max-above-watermark': ipam.maxAboveWatermark,
    'static-ip-tags': ipam.staticIpTags,
  });
}
