// Reads of a Node what matters for blocks, and where they follow a cloud, for its network. The API server has validated its
// CIDRs, but the text may be any spelling that it accepts.
import { type ObjectIdentity, readIdentity } from '../object-identity.ts';
import { isList, type JsonObject, textAt, valueAt } from '../transport/json.ts';

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
  const list = valueAt(raw, 'spec', 'podCIDRs');
  const texts = isList(list) ? list.filter((entry) => typeof entry === 'string') : [];
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
  const list = valueAt(raw, 'status', 'conditions');
  const conditions = isList(list) ? list : [];
  return {
    providerId: textAt(raw, 'spec', 'providerID') ?? '',
    isNetworkReady: conditions.some(
      (each) => textAt(each, 'type') === networkUnavailable && textAt(each, 'status') === 'False',
    ),
  };
}
