// Adds addresses to an interface of an instance. The names of the added configurations come from the operation, so after a
// lost answer the model says whether the request arrived.
import type { CallContext } from '../contract/cloud.ts';
import type { AllocateIPs, Outcome } from '../contract/operations.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { nameOfInterface, parseInstanceId, parseInterfaceId, type ScaleSetVm } from './ids.ts';
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
  noSuchTarget,
  type Prepared,
  type Target,
  type UpdateParts,
  withoutLeftovers,
} from './model-change.ts';
import { oneInterface, scaleSetVm } from './requests.ts';

export interface InstanceUpdate extends Omit<AllocateIPs, 'kind'> {
  /** Names what it adds. */
  readonly operationId: string;
}

/** Resolves once the added addresses are shown, or are sure not to come. Never rejects for anything Azure does. */
export async function updateInstance(
  parts: UpdateParts,
  update: InstanceUpdate,
  context: CallContext,
): Promise<Outcome> {
  const { instanceId, interfaceId, operationId, count, max } = update;
  const addition = { name: nameOfInterface(interfaceId), count, max };
  const names = namesFor([addition], operationId);
  const target = targetOf(parts, update, { addition, names });
  if (target === undefined) return { kind: 'failed', failure: noSuchTarget(update) };
  const result = await changeModel(parts, target, { ...context, instanceId });
  if (result.kind !== 'shown') return result;
  const shown = result.addressesByInterface.get(addition.name.toLowerCase());
  const addresses = [...names.values()].flat().flatMap((name) => shown?.get(name) ?? []);
  return { kind: 'done', answer: { kind: 'allocated', interfaceId, instanceId, addresses, prefixes: [] } };
}

interface Wanted {
  readonly addition: Addition;
  readonly names: NamesByInterface;
}

/** A scale-set VM has one model for all its interfaces; interfaces of other VMs each have their own. */
function targetOf(
  parts: UpdateParts,
  { instanceId, interfaceId }: InstanceUpdate,
  wanted: Wanted,
): Target | undefined {
  const instance = parseInstanceId(instanceId);
  if (instance?.kind === 'scaleSetVm') return targetOfVm(parts, { instanceId, vm: instance }, wanted);
  const id = parseInterfaceId(interfaceId);
  if (instance === undefined || id === undefined) return undefined;
  const { addition, names } = wanted;
  return {
    instanceId,
    read: oneInterface(id),
    update: 'Interfaces.CreateOrUpdate',
    effect: 'adds',
    prepare: ({ body }) => {
      const own = names.get(addition.name) ?? [];
      return prepared(body, names, withAdditionsToInterface(body, addition, own));
    },
  };
}

function targetOfVm(
  parts: UpdateParts,
  { instanceId, vm }: { readonly instanceId: string; readonly vm: ScaleSetVm },
  { addition, names }: Wanted,
): Target {
  return {
    instanceId,
    read: scaleSetVm(vm),
    update: 'VirtualMachineScaleSetVMs.Update',
    effect: 'adds',
    prepare: async (model, context) => {
      const cleaned = holdsAll(model.body, names)
        ? model.body
        : await withoutLeftovers(parts, { instanceId, vm }, model, context);
      return cleaned === undefined
        ? { kind: 'unsure' }
        : prepared(cleaned, names, withAdditionsToVm(cleaned, [addition], names));
    },
  };
}

function prepared(model: JsonObject, names: NamesByInterface, edit: Edit): Prepared {
  const goal = { kind: 'added', names } as const;
  if (holdsAll(model, names)) return { kind: 'sent', goal };
  return edit.kind === 'refused' ? edit : { kind: 'change', model: edit.model, goal };
}
