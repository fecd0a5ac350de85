// Adds addresses to an interface of an instance. The names of the added configurations come from the operation, so after a
// lost answer the model says whether the request arrived.
import type { CallContext } from '../contract/cloud.ts';
import type { AllocateIPs, Outcome } from '../contract/operations.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { nameOfInterface } from './ids.ts';
import {
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
  resourceOf,
  type Prepared,
  type Target,
  type UpdateParts,
  withoutLeftovers,
} from './model-change.ts';

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
  const resource = resourceOf(update);
  if (resource === undefined) return { kind: 'failed', failure: noSuchTarget(update) };
  const prepare: Target['prepare'] = async (model, within) => {
    const { body } = model;
    if (resource.vm === undefined)
      return prepared(body, names, withAdditionsToInterface(body, addition, names.get(addition.name) ?? []));
    const vm = { instanceId, vm: resource.vm };
    const cleaned = holdsAll(body, names) ? body : await withoutLeftovers(parts, vm, model, within);
    if (cleaned === undefined) return { kind: 'unsure' };
    return prepared(cleaned, names, withAdditionsToVm(cleaned, [addition], names));
  };
  const result = await changeModel(
    parts,
    { ...resource, effect: 'adds', prepare },
    { ...context, instanceId },
  );
  if (result.kind !== 'shown') return result;
  const shown = result.addressesByInterface.get(addition.name.toLowerCase());
  const addresses = [...names.values()].flat().flatMap((name) => shown?.get(name) ?? []);
  return { kind: 'done', answer: { kind: 'allocated', interfaceId, instanceId, addresses, prefixes: [] } };
}

function prepared(model: JsonObject, names: NamesByInterface, edit: Edit): Prepared {
  const goal = { kind: 'added', names } as const;
  if (holdsAll(model, names)) return { kind: 'sent', goal };
  return edit.kind === 'refused' ? edit : { kind: 'change', model: edit.model, goal };
}
