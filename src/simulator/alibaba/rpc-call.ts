// One request to the RPC APIs of a known caller, and what it leads to.
import type { Exchange } from '../cloud/exchange.ts';
import type { Call } from '../cloud/front-door.ts';
import type { JsonObject } from '../workload/json.ts';
import type { Flattened } from './parameters.ts';
import type { RpcAction } from './rpc-action.ts';
import type { RpcRefusal } from './rpc-refusal.ts';
import type { Credential } from './rpc-signature.ts';

/** A request before it is checked. */
export interface RpcRequest {
  readonly action: string;
  readonly version: string;
  readonly parameters: Flattened;
  readonly caller: Credential;
}

/** A request to a known action; its parameters are flattened until it is accepted. */
export interface RpcCall extends Call {
  readonly action: RpcAction;
  readonly given: Flattened;
  readonly caller: Credential;
}

/** An answer without the id of its request. */
export type RpcExchange = Exchange<JsonObject, RpcRefusal>;
