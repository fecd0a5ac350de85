// Defines an EC2 action: its shapes and its effect.
import type { Random } from '../../runtime/random.ts';
import type { CloudNetwork, NetworkView } from '../cloud/cloud-network.ts';
import type { ClientTokens } from '../cloud/client-tokens.ts';
import type { Described } from './interface-answers.ts';
import type { PageTokens } from '../cloud/page-tokens.ts';
import { type Fields, flag, type Members, type RecordShape, record } from './shape.ts';

/** The context of an action, created per request. */
export interface ActionContext {
  readonly network: CloudNetwork;
  /** The account of the caller. */
  readonly account: string;
  /** The view of a read: the network at an earlier instant. */
  readonly view: NetworkView;
  readonly clientTokens: ClientTokens<string>;
  readonly pageTokens: PageTokens;
  /** Cached descriptions, kept as long as their records. */
  readonly described: Described;
  readonly random: Random;
  /** Whether listings without pagination and narrowing filters are refused. */
  readonly refuseUnpaginated: boolean;
}

export interface ActionDefinition<I extends Fields, O extends Fields> {
  readonly input: RecordShape<I>;
  readonly output: RecordShape<O>;
  /** A few actions do not support a dry run. */
  readonly dryRun?: false;
  /** Called with a validated input; throws `Ec2Refusal` or `CloudRefusal` before any change. */
  readonly run: (input: Members<I>, context: ActionContext) => Members<O>;
}

/** An action with its types erased, for a common table. */
export interface Action {
  readonly input: RecordShape;
  readonly output: RecordShape;
  readonly run: (
    input: Readonly<Record<string, unknown>>,
    context: ActionContext,
  ) => Readonly<Record<string, unknown>>;
}

/** Converts a definition to an entry of the action table. */
export function action<I extends Fields, O extends Fields>(definition: ActionDefinition<I, O>): Action {
  const { input, output, dryRun, run } = definition;
  const fields = dryRun === false ? input.fields : { ...input.fields, DryRun: flag };
  return { input: record(fields), output, run } as unknown as Action;
}
