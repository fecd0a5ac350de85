// One request to Azure Resource Manager after its route is known, and what it answers.
import type { Random } from '../../runtime/random.ts';
import type { Exchange } from '../cloud/exchange.ts';
import type { OperationFailure } from '../cloud/front-door.ts';
import type { JsonObject } from '../workload/json.ts';
import type { ArmCloud, ArmView } from './arm-cloud.ts';
import type { ArmRefusal } from './arm-refusal.ts';
import type { PageTokens } from '../cloud/page-tokens.ts';
import type { Principal } from './principals.ts';

/** Names in the path of a request, by their place in the route. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

export interface ArmCall {
  /** As Microsoft's SDKs group and name it: `VirtualMachineScaleSetVMs.Update`. */
  readonly name: string;
  /** Names of the path, `path` itself, and `caller`: what faults match. */
  readonly parameters: PathNames;
  readonly operation: ArmOperation;
  readonly caller: Principal;
  /** The resource as the client spells it. */
  readonly path: string;
  /** `https://host:port`, as the client asked. */
  readonly origin: string;
  readonly query: URLSearchParams;
  readonly apiVersion: string;
  readonly ifMatch: string | undefined;
  readonly body: JsonObject;
}

export interface ArmAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

export type ArmExchange = Exchange<ArmAnswer, ArmRefusal>;

export interface ArmContext {
  readonly cloud: ArmCloud;
  /** The view of a listing: the cloud at an earlier instant. */
  readonly view: ArmView;
  readonly pages: PageTokens;
  readonly random: Random;
  readonly shortPages: number;
  readonly failure: OperationFailure | undefined;
  /** Actions that anyone may do at all; undefined for all. */
  readonly openActions: readonly string[] | undefined;
}

export type Provider =
  | 'Microsoft.Authorization'
  | 'Microsoft.Compute'
  | 'Microsoft.Network'
  | 'Microsoft.Resources';

/** One operation of the API. */
export interface ArmOperation {
  readonly name: string;
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  /** The route: literal parts in any case, and names in braces. */
  readonly route: string;
  readonly provider: Provider;
  /** The action that a role has to allow; undefined if anyone may call it. */
  readonly action?: string;
  /** Compute's own limits, by the group of operations. */
  readonly limits?: string;
  readonly run: (call: ArmCall, context: ArmContext) => ArmAnswer;
}

export function answer(body: JsonObject, status = 200): ArmAnswer {
  return { status, headers: {}, body };
}
