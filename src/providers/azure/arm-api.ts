// The ARM requests that Headwater sends, and the port through which they leave.
import { type Json, type JsonObject, valueAt } from '../../runtime/json.ts';
import type { Sending } from '../gate/cloud-call.ts';
import type { AzureCallName } from './limits.ts';

/** By the names that cilium-operator uses for its limits and metrics. */
export type ArmOperation = AzureCallName;

export type ResourceProvider = 'network' | 'compute';

export interface ArmRequest {
  readonly operation: ArmOperation;
  readonly method: 'GET' | 'PUT';
  /** Path and query, or a whole URL that an answer named. */
  readonly url: string;
  readonly provider: ResourceProvider;
  readonly subscriptionId: string;
  /** The resource that has limits of its own, in lower case. */
  readonly resource?: string;
  readonly body?: JsonObject;
  /** The resource must still be in this state. */
  readonly ifMatch?: string;
  /** The effect of a PUT. */
  readonly effect?: 'adds' | 'takesAway';
  /** The name of a long list that is only counted. */
  readonly counted?: string;
}

export interface ArmAnswer {
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly body: Json;
  /** The number of items in the list that was to be counted; undefined if the answer has none. */
  readonly count?: number | undefined;
  readonly etag?: string | undefined;
  /** Where the progress of a long operation is shown. */
  readonly progressUrl?: string | undefined;
  /** In ms. */
  readonly retryAfter?: number | undefined;
  /** The calls that the limits have left, by the name that ARM gives them. */
  readonly remaining: ReadonlyMap<string, number>;
}

/**
 * Sends one request, once a slot is free, and parses its answer. It neither retries nor waits for rate limits. Rejects
 * with a CallError, or with what `onSend` threw.
 */
export interface ArmApi {
  send(request: ArmRequest, sending: Sending): Promise<ArmAnswer>;
}

/** A text member; undefined if it is missing, empty or no text. */
export function text(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The members of a list; undefined if there is none. */
export function list(value: Json | undefined, ...path: readonly string[]): readonly Json[] | undefined {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : undefined;
}
