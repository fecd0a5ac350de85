// Adds addresses to the interfaces of one instance. The names of the added configurations come from the operation, so
// after a lost answer the model says whether the request arrived.
import type { CallContext } from '../contract/allocation-implementation.ts';
import type { CloudFailure } from '../contract/cloud-failure.ts';
import type { Outcome } from '../contract/operation.ts';
import type { JsonObject } from './arm-api.ts';
import { failure } from './arm-client.ts';
import { instanceKey, nameOfInterface, parseInstanceId, parseInterfaceId, type ScaleSetVm } from './ids.ts';
import {
  type Addition,
  type Edit,
  holdsAll,
  namesFor,
  type NamesByInterface,
  withAdditionsToInterface,
  withAdditionsToVm,
} from './instance-model.ts';
import {
  changeModel,
  type ModelResult,
  type Prepared,
  type Target,
  type UpdateParts,
  withoutLeftovers,
} from './model-change.ts';
import { oneInterface, scaleSetVm } from './requests.ts';

export interface InstanceUpdate {
  readonly instanceId: string;
  /** Names what it adds. */
  readonly operationId: string;
  readonly add: readonly {
    readonly interfaceId: string;
    /** Undefined: the subnet that the interface is in. */
    readonly subnetId?: string;
    readonly count: number;
  }[];
}

/** What was added, by interface. */
export type Added = readonly { readonly interfaceId: string; readonly addresses: readonly string[] }[];

export type UpdateOutcome =
  | { readonly kind: 'added'; readonly added: Added }
  | Exclude<Outcome, { kind: 'done' }>;

type AddingTarget = Target & { readonly names: NamesByInterface };

/** Resolves once the added addresses are shown, or are sure not to come. Never rejects for anything Azure does. */
export async function updateInstance(
  parts: UpdateParts,
  update: InstanceUpdate,
  context: CallContext,
): Promise<UpdateOutcome> {
  const targets = targetsOf(parts, update);
  if (targets === undefined) return { kind: 'failed', failure: notUnderstood(update) };
  const within = { ...context, instanceId: update.instanceId };
  const results = await Promise.all(
    targets.map(async (target, index): Promise<Result> => {
      const result = await changeModel(parts, target, { context: within, isAdmitted: index === 0 });
      return resultOf(target, result);
    }),
  );
  return together(update, results);
}

type Result =
  | { readonly kind: 'shown'; readonly added: ReadonlyMap<string, readonly string[]> }
  | Exclude<Outcome, { kind: 'done' }>;

/** A scale-set VM has one model for all its interfaces; interfaces of other VMs each have their own. */
function targetsOf(
  parts: UpdateParts,
  { instanceId, operationId, add }: InstanceUpdate,
): readonly AddingTarget[] | undefined {
  const instance = parseInstanceId(instanceId);
  if (instance === undefined) return undefined;
  const additions = add.map(({ interfaceId, subnetId, count }): Addition & { readonly id: string } => ({
    id: interfaceId,
    name: nameOfInterface(interfaceId),
    subnetId,
    count,
  }));
  const names = namesFor(additions, operationId);
  if (instance.kind === 'scaleSetVm')
    return [targetOfVm(parts, { instanceId, vm: instance, additions, names })];
  const targets = additions.map((addition) => targetOfInterface(instanceId, addition, names));
  return targets.every((target) => target !== undefined) ? targets : undefined;
}

interface VmAdditions {
  readonly instanceId: string;
  readonly vm: ScaleSetVm;
  readonly additions: readonly Addition[];
  readonly names: NamesByInterface;
}

function targetOfVm(parts: UpdateParts, { instanceId, vm, additions, names }: VmAdditions): AddingTarget {
  return {
    instanceId,
    read: scaleSetVm(vm),
    update: 'VirtualMachineScaleSetVMs.Update',
    effect: 'adds',
    names,
    prepare: async (model, context) => {
      const cleaned = holdsAll(model.body, names)
        ? model.body
        : await withoutLeftovers(parts, { instanceId, vm }, model, context);
      return cleaned === undefined
        ? { kind: 'unsure' }
        : prepared(cleaned, names, withAdditionsToVm(cleaned, additions, names));
    },
  };
}

function targetOfInterface(
  instanceId: string,
  addition: Addition & { readonly id: string },
  all: NamesByInterface,
): AddingTarget | undefined {
  const id = parseInterfaceId(addition.id);
  if (id === undefined) return undefined;
  const own = all.get(addition.name) ?? [];
  const names = new Map([[addition.name, own]]);
  return {
    instanceId,
    read: oneInterface(id),
    update: 'Interfaces.CreateOrUpdate',
    effect: 'adds',
    names,
    prepare: ({ body }) => prepared(body, names, withAdditionsToInterface(body, addition, own)),
  };
}

function prepared(model: JsonObject, names: NamesByInterface, edit: Edit): Prepared {
  const goal = { kind: 'added', names } as const;
  if (holdsAll(model, names)) return { kind: 'sent', goal };
  return edit.kind === 'refused' ? edit : { kind: 'change', model: edit.model, goal };
}

function resultOf({ names: all }: AddingTarget, result: ModelResult): Result {
  if (result.kind !== 'shown') return result;
  const added = [...all].map(([name, names]) => {
    const shown = result.addressesByInterface.get(name.toLowerCase());
    return [name, names.flatMap((each) => shown?.get(each) ?? [])] as const;
  });
  return { kind: 'shown', added: new Map(added) };
}

/** What was added counts, even if another interface got nothing. */
function together({ add }: InstanceUpdate, results: readonly Result[]): UpdateOutcome {
  const addedByName = new Map(
    results.flatMap((result) => (result.kind === 'shown' ? [...result.added] : [])),
  );
  const unsure = results.find((result) => result.kind === 'ambiguous');
  if (unsure !== undefined) return unsure;
  const failed = results.find((result) => result.kind === 'failed');
  if (failed !== undefined && addedByName.size === 0) return failed;
  const added = add.flatMap(({ interfaceId }) => {
    const addresses = addedByName.get(nameOfInterface(interfaceId)) ?? [];
    return addresses.length === 0 ? [] : [{ interfaceId, addresses }];
  });
  return { kind: 'added', added };
}

function notUnderstood({ instanceId, add }: InstanceUpdate): CloudFailure {
  const what = [instanceKey(instanceId), ...add.map(({ interfaceId }) => interfaceId)].join(', ');
  const text = `Azure has no such instance or interface: ${what}`;
  return failure({ operation: 'VirtualMachineScaleSetVMs.Update' }, 'InvalidResourceId', text);
}
