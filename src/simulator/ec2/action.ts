// What an action of EC2 is: its shapes and what it does.
import type { Random } from '../../scheduling/random.ts';
import type { CloudNetwork, NetworkView } from '../cloud/cloud-network.ts';
import type { ClientTokens } from './client-tokens.ts';
import type { Described } from './interface-answers.ts';
import type { PageTokens } from './page-tokens.ts';
import { type Fields, flag, type Members, type RecordShape, record } from './shape.ts';

/** What an action works with, made anew for each request. */
export interface ActionContext {
  readonly network: CloudNetwork;
  /** What a read sees: the network as it was a little while ago. */
  readonly view: NetworkView;
  readonly clientTokens: ClientTokens;
  readonly pageTokens: PageTokens;
  /** What was described before, for as long as its record lives. */
  readonly described: Described;
  readonly random: Random;
  /** Whether listings without pages and narrowing filters are refused. */
  readonly refuseUnpaginated: boolean;
}

export interface ActionDefinition<I extends Fields, O extends Fields> {
  readonly input: RecordShape<I>;
  readonly output: RecordShape<O>;
  /** A few actions know no dry run. */
  readonly dryRun?: false;
  /** Called with an input that its shape has accepted; throws `Ec2Refusal` or `CloudRefusal` before it changes anything. */
  readonly run: (input: Members<I>, context: ActionContext) => Members<O>;
}

/** An action whose own types are forgotten, so that all can stand in one table. */
export interface Action {
  readonly input: RecordShape;
  readonly output: RecordShape;
  readonly run: (
    input: Readonly<Record<string, unknown>>,
    context: ActionContext,
  ) => Readonly<Record<string, unknown>>;
}

/** Turns a definition into an entry of the table of actions. */
export function action<I extends Fields, O extends Fields>(definition: ActionDefinition<I, O>): Action {
  const { input, output, dryRun, run } = definition;
  const fields = dryRun === false ? input.fields : { ...input.fields, DryRun: flag };
  return { input: record(fields), output, run } as unknown as Action;
}
