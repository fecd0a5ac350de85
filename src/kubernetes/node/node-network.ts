// Reads of a Node what a cloud's network needs: which instance it is, and whether its network is said to be available.
import { isList, type JsonObject, textAt, valueAt } from '../transport/json.ts';

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
