// Decides which configurations a release removes from a model, from the addresses that interfaces show. Pure. Azure
// removes configurations by their names.
import type { JsonObject } from '../../runtime/json.ts';
import { instanceKey, nameOfInterface } from './ids.ts';
import {
  type Edit,
  holdsNone,
  type NamesByInterface,
  withRemovalsFromInterface,
  withRemovalsFromVm,
} from './instance-model.ts';
import type { Prepared } from './model-change.ts';
import type { ShownInterface } from './network-interface.ts';

export interface RemovalFacts {
  readonly instanceId: string;
  readonly model: JsonObject;
  /** Whether the model is that of a VM with all its interfaces, or that of one interface. */
  readonly isWhole: boolean;
  /** The interfaces, read after the model. */
  readonly shown: readonly ShownInterface[];
  /** Addresses to remove, by the id of the interface. */
  readonly removals: ReadonlyMap<string, readonly string[]>;
}

export type Refusal = Extract<Prepared, { kind: 'refused' }>;

export interface RemovalPlan {
  readonly prepared: Prepared;
  /** By the id of an interface that cannot take part. The others do not wait for it. */
  readonly refusals: ReadonlyMap<string, Refusal>;
}

export function planRemovals(facts: RemovalFacts): RemovalPlan {
  const refusals = new Map<string, Refusal>();
  const names = new Map<string, readonly string[]>();
  for (const [interfaceId, addresses] of facts.removals) {
    const found = namesOn(facts, interfaceId, addresses);
    if ('kind' in found) refusals.set(interfaceId, found);
    else if (found.length > 0) names.set(nameOfInterface(interfaceId), found);
  }
  return { prepared: preparedFor(facts, names, refusals), refusals };
}

function preparedFor(
  facts: RemovalFacts,
  names: NamesByInterface,
  refusals: ReadonlyMap<string, Refusal>,
): Prepared {
  if (names.size === 0) return [...refusals.values()][0] ?? { kind: 'done' };
  const goal = { kind: 'removed', names } as const;
  const edited = edit(facts, names);
  // A model without them that is not changing was not carried out, so it is written again.
  if (edited.kind === 'edited') return { kind: 'change', model: edited.model, goal };
  const isUnderWay = edited.code === 'ModelIsChanging' && holdsNone(facts.model, names);
  return isUnderWay ? { kind: 'sent', goal } : edited;
}

function edit({ model, isWhole }: RemovalFacts, names: NamesByInterface): Edit {
  return isWhole
    ? withRemovalsFromVm(model, names)
    : withRemovalsFromInterface(model, [...names.values()].flat());
}

/** The names of the configurations with these addresses. An address that is not there is gone already. */
function namesOn(
  facts: RemovalFacts,
  interfaceId: string,
  addresses: readonly string[],
): readonly string[] | Refusal {
  const item = shownAs(facts, interfaceId);
  if (item === undefined) return refused('InterfaceNotInModel', 'the instance does not have the interface');
  const { read } = item;
  if ('problem' in read) return refused('UnreadableAnswer', `cannot understand ${item.id}: ${read.problem}`);
  if (read.interface.condition === 'changing') return refused('ModelIsChanging', `${item.id} is changing`);
  const present = new Set([...read.interface.addresses, read.interface.primaryAddress]);
  const there = addresses.filter((address) => present.has(address));
  const foreign = there.find((address) => !read.releasable.has(address));
  if (foreign !== undefined)
    return refused('ConfigurationNotOurs', `the configuration of ${foreign} is not Headwater's to remove`);
  const names = there.flatMap((address) => read.releasable.get(address) ?? []);
  const edited = edit(facts, new Map([[nameOfInterface(interfaceId), names]]));
  return edited.kind === 'refused' && edited.code !== 'ModelIsChanging' ? edited : names;
}

/** Undefined if the instance does not have it. */
function shownAs(
  { shown, instanceId }: Pick<RemovalFacts, 'shown' | 'instanceId'>,
  interfaceId: string,
): ShownInterface | undefined {
  const [id, owner] = [interfaceId.toLowerCase(), instanceKey(instanceId)];
  return shown.find((item) => item.id.toLowerCase() === id && item.instanceId === owner);
}

function refused(code: Refusal['code'], problem: string): Refusal {
  return { kind: 'refused', code, problem };
}
