// Reads of a Node what matters for blocks. The API server has validated its CIDRs, but the text may be any spelling that it
// accepts.
import { isList, type JsonObject, textAt, valueAt } from '../transport/json.ts';

export const nodesPath = '/api/v1/nodes';

export interface NodeBlocks {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The API server's wall clock, in ms; Infinity if unreadable. */
  readonly createdAt: number;
  readonly isDeleting: boolean;
  /** `spec.podCIDRs`, or `spec.podCIDR` alone where an old writer set only that. */
  readonly podCidrs: readonly string[];
}

export function readNodeBlocks(raw: JsonObject): NodeBlocks {
  const createdAt = Date.parse(textAt(raw, 'metadata', 'creationTimestamp') ?? '');
  return {
    name: textAt(raw, 'metadata', 'name') ?? '',
    uid: textAt(raw, 'metadata', 'uid') ?? '',
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
    createdAt: Number.isNaN(createdAt) ? Infinity : createdAt,
    isDeleting: valueAt(raw, 'metadata', 'deletionTimestamp') !== undefined,
    podCidrs: podCidrsOf(raw),
  };
}

function podCidrsOf(raw: JsonObject): readonly string[] {
  const list = valueAt(raw, 'spec', 'podCIDRs');
  const texts = isList(list) ? list.filter((entry) => typeof entry === 'string') : [];
  const alone = textAt(raw, 'spec', 'podCIDR') ?? '';
  return texts.length === 0 && alone !== '' ? [alone] : texts;
}
