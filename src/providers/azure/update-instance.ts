// Adds addresses to the interfaces of one instance. Azure replaces the whole model of the instance, so every PUT starts
// from a fresh read of it, is sent only if nobody changed it meanwhile, and only adds. The names of the added
// configurations come from the operation, so after a lost answer the model says whether the request arrived.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Outcome } from '../contract/operation.ts';
import type { WriteResult } from '../gate/call-gate.ts';
import { type ArmAnswer, type ArmRequest, isObject, type JsonObject } from './arm-api.ts';
import { type ArmClient, failure, unreadable } from './arm-client.ts';
import { type Acceptance, acceptanceIn, type Changes, type EndOfChange } from './changes.ts';
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
import { oneInterface, replacing, scaleSetVm, standaloneVm } from './requests.ts';

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

export interface UpdateParts {
  readonly client: ArmClient;
  readonly changes: Changes;
}

/** How often the model is read again because somebody changed it between our read and our PUT. */
const mostTries = 3;

/** A resource that one PUT changes. */
interface Target {
  readonly read: ArmRequest;
  readonly update: 'VirtualMachineScaleSetVMs.Update' | 'Interfaces.CreateOrUpdate';
  readonly names: NamesByInterface;
  readonly edit: (model: JsonObject) => Edit;
}

/** Resolves once the added addresses are shown, or are sure not to come. Never rejects for anything Azure does. */
export async function updateInstance(
  parts: UpdateParts,
  update: InstanceUpdate,
  context: CallContext,
): Promise<UpdateOutcome> {
  const targets = targetsOf(update);
  if (targets === undefined) return { kind: 'failed', failure: notUnderstood(update) };
  const { instanceId } = update;
  const within = { ...context, instanceId };
  const results = await Promise.all(
    targets.map((target, index) =>
      carryOut(parts, { instanceId, target }, { context: within, isAdmitted: index === 0 }),
    ),
  );
  return together(update, results);
}

type Result =
  | { readonly kind: 'shown'; readonly added: ReadonlyMap<string, readonly string[]> }
  | Exclude<Outcome, { kind: 'done' }>;

/** A scale-set VM has one model for all its interfaces; interfaces of other VMs each have their own. */
function targetsOf({ instanceId, operationId, add }: InstanceUpdate): readonly Target[] | undefined {
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
  readonly instanceId: string;
  readonly target: Target;
}

/** `isAdmitted`: whether the first PUT has its tokens. */
async function carryOut(
  parts: UpdateParts,
  work: Work,
  { context, isAdmitted }: { readonly context: CallContext; readonly isAdmitted: boolean },
): Promise<Result> {
  const tokens = new Tokens(parts.client, isAdmitted);
  try {
    return await tryUpTo(mostTries, { ...parts, tokens }, { ...work, context });
  } catch (error) {
    if (error instanceof CloudError) return { kind: 'failed', failure: error.failure };
    throw error;
  } finally {
    tokens.refund(putOf(work.target, {}));
  }
}

/** The tokens of the first PUT came with the operation. They go back if there is none. */
class Tokens {
  readonly #client: ArmClient;
  #isHeld: boolean;

  constructor(client: ArmClient, isHeld: boolean) {
    this.#client = client;
    this.#isHeld = isHeld;
  }

  write(request: ArmRequest, context: CallContext): Promise<WriteResult<ArmAnswer>> {
    const isHeld = this.#isHeld;
    this.#isHeld = false;
    return isHeld ? this.#client.writeAdmitted(request, context) : this.#client.write(request, context);
  }

  refund(request: ArmRequest): void {
    if (this.#isHeld) this.#client.refund(request);
    this.#isHeld = false;
  }
}

async function tryUpTo(
  tries: number,
  parts: UpdateParts & { readonly tokens: Tokens },
  work: Work & { readonly context: CallContext },
): Promise<Result> {
  const { target, context } = work;
  const model = await readModel(parts.client, target, context);
  if (holdsAll(model.body, target.names)) {
    parts.tokens.refund(putOf(target, {}));
    return waitForEnd(parts, work, undefined);
  }
  const edit = target.edit(model.body);
  if (edit.kind === 'refused')
    return { kind: 'failed', failure: failure({ operation: target.update }, edit.code, edit.problem) };
  // A late PUT without it would undo what others changed meanwhile.
  if (model.etag === undefined) throw unreadable(target.read, 'etag is missing');
  const written = await parts.tokens.write(putOf(target, { body: edit.model, etag: model.etag }), context);
  if (written.kind === 'answered') return waitForEnd(parts, work, acceptanceIn(written.output));
  if (written.kind === 'ambiguous') return afterLostAnswer(parts, work, written.failure);
  if (written.failure.code !== 'PreconditionFailed' || tries <= 1) return written;
  return tryUpTo(tries - 1, parts, work);
}

function putOf(
  { read, update }: Target,
  { body = {}, etag }: { readonly body?: JsonObject; readonly etag?: string | undefined },
): ArmRequest {
  return replacing(read, update, { body, etag });
}

/** If the model has our names, the request arrived. If not, it may still be on its way. */
async function afterLostAnswer(
  parts: UpdateParts,
  work: Work & { readonly context: CallContext },
  lost: CloudFailure,
): Promise<Result> {
  const { target, context } = work;
  try {
    const { body } = await readModel(parts.client, target, { ...context, inFlight: true });
    if (holdsAll(body, target.names)) return await waitForEnd(parts, work, undefined);
  } catch (error) {
    if (!(error instanceof CloudError) && !context.signal.aborted) throw error;
  }
  return { kind: 'ambiguous', failure: lost };
}

/** The change of an instance, as its limits see it. */
export function admittedFor(instanceId: string): ArmRequest | undefined {
  const instance = parseInstanceId(instanceId);
  if (instance === undefined) return undefined;
  if (instance.kind === 'scaleSetVm')
    return replacing(scaleSetVm(instance), 'VirtualMachineScaleSetVMs.Update', { body: {}, etag: undefined });
  return replacing(standaloneVm(instance), 'Interfaces.CreateOrUpdate', { body: {}, etag: undefined });
}

async function readModel(
  client: ArmClient,
  { read }: Target,
  context: CallContext,
): Promise<{ readonly body: JsonObject; readonly etag: string | undefined }> {
  const { answer } = await client.readOne(read, context);
  if (!isObject(answer.body)) throw unreadable(read, 'it is no model');
  return { body: answer.body, etag: answer.etag };
}

async function waitForEnd(
  { changes }: UpdateParts,
  { instanceId, target, context }: Work & { readonly context: CallContext },
  accepted: Acceptance | undefined,
): Promise<Result> {
  const { read, update, names } = target;
  const end = await changes.wait({ instanceId, read, operation: update, names, accepted }, context);
  return resultOf(target, end);
}

function resultOf(target: Target, end: EndOfChange): Result {
  if (end.kind === 'failed') return { kind: 'failed', failure: end.failure };
  if (end.kind === 'unclear') return { kind: 'ambiguous', failure: end.failure };
  const added = [...target.names].map(([name, names]) => {
    const shown = end.addressesByInterface.get(name.toLowerCase());
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
