// Adds addresses to the interfaces of one instance. Azure replaces the whole model of the instance, so every PUT starts
// from a fresh read of it, is sent only if nobody changed it meanwhile, and only adds. The names of the added
// configurations come from the operation, so after a lost answer the model says whether the request arrived.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Outcome, UpdateInstance } from '../contract/operation.ts';
import { type ArmAnswer, type ArmRequest, isObject, type JsonObject } from './arm-api.ts';
import { type ArmClient, failure, unreadable } from './arm-client.ts';
import type { Change, EndOfChange, Changes } from './changes.ts';
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
import { oneInterface, replacing, scaleSetVm } from './requests.ts';

export interface UpdateParts {
  readonly client: ArmClient;
  readonly changes: Changes;
}

/** How often the model is read again because somebody changed it between our read and our PUT. */
const mostTries = 3;

/** The first read of an update, whose tokens the operation was admitted with. */
interface Target {
  readonly read: ArmRequest;
  readonly update: 'VirtualMachineScaleSetVMs.Update' | 'Interfaces.CreateOrUpdate';
  readonly names: NamesByInterface;
  readonly edit: (model: JsonObject) => Edit;
}

/** Resolves once the added addresses are shown, or are sure not to come. Never rejects for anything Azure does. */
export async function updateInstance(
  parts: UpdateParts,
  operation: UpdateInstance,
  context: CallContext,
): Promise<Outcome> {
  const targets = targetsOf(operation);
  if (targets === undefined) return { kind: 'failed', failure: notUnderstood(operation) };
  const within = { ...context, instanceId: operation.instanceId };
  const results = await Promise.all(targets.map((target) => carryOut(parts, { operation, target }, within)));
  return together(operation, results);
}

type Result =
  | { readonly kind: 'shown'; readonly added: ReadonlyMap<string, readonly string[]> }
  | Exclude<Outcome, { kind: 'done' }>;

/** A scale-set VM has one model for all its interfaces; interfaces of other VMs each have their own. */
function targetsOf({ instanceId, operationId, add }: UpdateInstance): readonly Target[] | undefined {
  const instance = parseInstanceId(instanceId);
  if (instance === undefined) return undefined;
  const additions = add.map(({ interfaceId, subnetId, count }): Addition & { readonly id: string } => ({
    id: interfaceId,
    name: nameOfInterface(interfaceId),
    subnetId,
    count,
  }));
  const names = namesFor(additions, operationId);
  if (instance.kind === 'scaleSetVm') return [targetOfVm(instance, additions, names)];
  const targets = additions.map((addition) => targetOfInterface(addition, names));
  return targets.every((target) => target !== undefined) ? targets : undefined;
}

function targetOfVm(vm: ScaleSetVm, additions: readonly Addition[], names: NamesByInterface): Target {
  return {
    read: scaleSetVm(vm),
    update: 'VirtualMachineScaleSetVMs.Update',
    names,
    edit: (model) => withAdditionsToVm(model, additions, names),
  };
}

function targetOfInterface(
  addition: Addition & { readonly id: string },
  all: NamesByInterface,
): Target | undefined {
  const id = parseInterfaceId(addition.id);
  if (id === undefined) return undefined;
  const names = all.get(addition.name) ?? [];
  return {
    read: oneInterface(id),
    update: 'Interfaces.CreateOrUpdate',
    names: new Map([[addition.name, names]]),
    edit: (model) => withAdditionsToInterface(model, addition, names),
  };
}

interface Work {
  readonly operation: UpdateInstance;
  readonly target: Target;
}

async function carryOut(parts: UpdateParts, work: Work, context: CallContext): Promise<Result> {
  try {
    return await tryUpTo(mostTries, parts, work, context);
  } catch (error) {
    if (error instanceof CloudError) return { kind: 'failed', failure: error.failure };
    throw error;
  }
}

async function tryUpTo(
  tries: number,
  parts: UpdateParts,
  work: Work,
  context: CallContext,
): Promise<Result> {
  const { target } = work;
  const model = await readModel(parts.client, target, context);
  if (holdsAll(model.body, target.names)) return waitForEnd(parts, work, { context });
  const edit = target.edit(model.body);
  if (edit.kind === 'refused')
    return { kind: 'failed', failure: failure({ operation: target.update }, edit.code, edit.problem) };
  const request = replacing(target.read, target.update, { body: edit.model, etag: model.etag });
  const written = await parts.client.writeOnce(request, context);
  if (written.kind === 'answered') return waitForEnd(parts, work, { context, accepted: written.output });
  if (written.kind === 'ambiguous') return afterLostAnswer(parts, work, { context, failure: written.failure });
  const { code } = written.failure;
  if (code !== 'PreconditionFailed' || tries <= 1) return written;
  return tryUpTo(tries - 1, parts, work, context);
}

/** If the model has our names, the request arrived. If not, it may still be on its way. */
async function afterLostAnswer(
  parts: UpdateParts,
  work: Work,
  { context, failure: lost }: { readonly context: CallContext; readonly failure: CloudFailure },
): Promise<Result> {
  try {
    const { body } = await readModel(parts.client, work.target, { ...context, inFlight: true });
    if (holdsAll(body, work.target.names)) return await waitForEnd(parts, work, { context });
  } catch (error) {
    if (!(error instanceof CloudError) && !context.signal.aborted) throw error;
  }
  return { kind: 'ambiguous', failure: lost };
}

async function readModel(
  client: ArmClient,
  { read }: Target,
  context: CallContext,
): Promise<{ readonly body: JsonObject; readonly etag: string | undefined }> {
  const { answer } = await client.read(read, context);
  if (!isObject(answer.body)) throw unreadable(read, 'it is no model');
  return { body: answer.body, etag: answer.etag };
}

async function waitForEnd(
  { changes }: UpdateParts,
  { operation, target }: Work,
  { context, accepted }: { readonly context: CallContext; readonly accepted?: ArmAnswer },
): Promise<Result> {
  const change: Change = {
    instanceId: operation.instanceId,
    request: { ...target.read, operation: target.update },
    names: target.names,
    progressUrl: accepted?.progressUrl,
  };
  const end = await changes.wait(change, context, accepted?.retryAfter);
  return resultOf(target, end);
}

function resultOf(target: Target, end: EndOfChange): Result {
  if (end.kind === 'failed') return { kind: 'failed', failure: end.failure };
  if (end.kind === 'abandoned') return { kind: 'ambiguous', failure: end.failure };
  const added = [...target.names].map(([name, names]) => {
    const shown = end.addressesByInterface.get(name.toLowerCase());
    return [name, names.flatMap((each) => shown?.get(each) ?? [])] as const;
  });
  return { kind: 'shown', added: new Map(added) };
}

/** What was added counts, even if another interface got nothing. */
function together({ instanceId, add }: UpdateInstance, results: readonly Result[]): Outcome {
  const addedByName = new Map(results.flatMap((result) => (result.kind === 'shown' ? [...result.added] : [])));
  const unsure = results.find((result) => result.kind === 'ambiguous');
  if (unsure !== undefined) return unsure;
  const failed = results.find((result) => result.kind === 'failed');
  if (failed !== undefined && addedByName.size === 0) return failed;
  const added = add.flatMap(({ interfaceId }) => {
    const addresses = addedByName.get(nameOfInterface(interfaceId)) ?? [];
    return addresses.length === 0 ? [] : [{ interfaceId, addresses }];
  });
  return { kind: 'done', answer: { kind: 'updated', instanceId, added } };
}

function notUnderstood({ instanceId, add }: UpdateInstance): CloudFailure {
  const what = [instanceKey(instanceId), ...add.map(({ interfaceId }) => interfaceId)].join(', ');
  const text = `Azure has no such instance or interface: ${what}`;
  return failure({ operation: 'VirtualMachineScaleSetVMs.Update' }, 'InvalidResourceId', text);
}

