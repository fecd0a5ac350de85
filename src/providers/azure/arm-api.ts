// The ARM requests that Headwater sends, and the port through which they leave.
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

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/**
 * Sends one request, once a slot is free, and parses its answer. It neither retries nor waits for rate limits. Rejects
 * with a CallError, or with what `onSend` threw.
 */
export interface ArmApi {
  send(request: ArmRequest, sending: Sending): Promise<ArmAnswer>;
}

/** A member of a JSON object; undefined if there is no such member. */
export function member(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (!isObject(at)) return undefined;
    at = Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text member; undefined if it is missing, empty or no text. */
export function text(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = member(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The members of a list; undefined if there is none. */
export function list(value: Json | undefined, ...path: readonly string[]): readonly Json[] | undefined {
  const found = member(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : undefined;
}
