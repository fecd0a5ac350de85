// Defines an action of the RPC APIs: its product, its parameters and its effect.
import type { Random } from '../../runtime/random.ts';
import type { CloudNetwork, NetworkView } from '../cloud/cloud-network.ts';
import type { OperationFailure } from '../cloud/front-door.ts';
import type { PageTokens } from '../cloud/page-tokens.ts';
import type { MsRange } from '../cloud/topology-fields.ts';
import type { JsonObject } from '../workload/json.ts';
import type { InputOf, Parameters } from './parameters.ts';

export type Product = 'ecs' | 'vpc';

/** The version of each product's API. */
export const versions: Readonly<Record<Product, string>> = { ecs: '2014-05-26', vpc: '2016-04-28' };

/** How long interfaces take to be made and deleted. */
export interface InterfaceTimes {
  readonly createMs: MsRange;
  readonly deleteMs: MsRange;
}

/** The context of an action, created per request. */
export interface RpcContext {
  readonly network: CloudNetwork;
  readonly times: InterfaceTimes;
  /** The view of a read: the network at an earlier instant. */
  readonly view: NetworkView;
  readonly pageTokens: PageTokens;
  readonly random: Random;
  readonly shortPages: number;
  /** The failure in which the operation of the request ends. */
  readonly failure: OperationFailure | undefined;
}

interface RpcActionDefinition<S extends Parameters> {
  readonly product: Product;
  readonly parameters: S;
  /** Called with accepted parameters; throws `RpcRefusal` or `CloudRefusal` before any change. */
  readonly run: (input: InputOf<S>, context: RpcContext) => JsonObject;
}

/** An action with its types erased, for a common table. */
export interface RpcAction {
  readonly product: Product;
  readonly parameters: Parameters;
  readonly run: (input: Readonly<Record<string, unknown>>, context: RpcContext) => JsonObject;
}

/** Converts a definition to an entry of the action table. Every action accepts a region. */
export function rpcAction<S extends Parameters>({
  product,
  parameters,
  run,
}: RpcActionDefinition<S>): RpcAction {
  const whole = { ...parameters, RegionId: parameters['RegionId'] ?? { kind: 'text' } };
  return { product, parameters: whole, run } as unknown as RpcAction;
}
