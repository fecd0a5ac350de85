// Reads of a Node what matters for blocks, and where they follow a cloud, for its network. The API server has validated its
// CIDRs, but the text may be any spelling that it accepts.
import { hasCondition, type ObjectIdentity, readIdentity } from '../object-identity.ts';
import { type JsonObject, listAt, textAt } from '../../runtime/json.ts';

export const nodesPath = '/api/v1/nodes';

export interface NodeBlocks extends ObjectIdentity {
  /** `spec.podCIDRs`, or `spec.podCIDR` alone where an old writer set only that. */
  readonly podCidrs: readonly string[];
}

export function readNodeBlocks(raw: JsonObject): NodeBlocks {
  return {
    ...readIdentity(raw),
    podCidrs: podCidrsOf(raw),
  };
}

function podCidrsOf(raw: JsonObject): readonly string[] {
  const texts = listAt(raw, 'spec', 'podCIDRs').filter((entry) => typeof entry === 'string');
  const alone = textAt(raw, 'spec', 'podCIDR') ?? '';
  return texts.length === 0 && alone !== '' ? [alone] : texts;
}

/** The type of the condition. While it is true, or a taint says so, no pod is scheduled to the Node. */
export const networkUnavailable = 'NetworkUnavailable';

export interface NodeNetwork {
  /** `spec.providerID`: any text, empty if there is none. */
  readonly providerId: string;
  /** Whether the condition is there and false. */
  readonly isNetworkReady: boolean;
}

export function readNodeNetwork(raw: JsonObject): NodeNetwork {
  return {
    providerId: textAt(raw, 'spec', 'providerID') ?? '',
    isNetworkReady: hasCondition(raw, networkUnavailable, 'False'),
  };
}
