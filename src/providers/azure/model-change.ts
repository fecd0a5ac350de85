// Changes one model by one PUT. Azure replaces the whole model, so every PUT starts from a fresh read of it and is sent
// only if nobody changed it meanwhile.
import type { CallContext } from '../contract/cloud.ts';
import type { OnInterface, Outcome } from '../contract/operations.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { CallEffect } from '../gate/cloud-call.ts';
import type { WriteResult } from '../gate/call-gate.ts';
import type { ArmAnswer, ArmRequest } from './arm-api.ts';
import { isObject, type JsonObject } from '../../runtime/json.ts';
import { type ArmClient, failure, unreadable } from './arm-client.ts';
import {
  type Acceptance,
  acceptanceIn,
  type AddressesByInterface,
  type Changes,
  type EndOfChange,
  type Goal,
} from './changes.ts';
import type { FailedModels, VmModel } from './failed-models.ts';
import { instanceKey, parseInstanceId, type ScaleSetVm, type Spellings, parseInterfaceId } from './ids.ts';
import { hasFailed, holdsAll, holdsAssociation, holdsNone, type ModelProblem } from './instance-model.ts';
import { readInterface, type ShownInterface } from './network-interface.ts';
import { replacing, scaleSetVm, scaleSetVmInterfaces, standaloneVm, oneInterface } from './requests.ts';

export interface UpdateParts {
  readonly client: ArmClient;
  readonly changes: Changes;
  readonly spellings: Spellings;
  readonly failedModels: FailedModels;
}

type Update = 'VirtualMachineScaleSetVMs.Update' | 'Interfaces.CreateOrUpdate';

/** A resource that one PUT changes. */
export interface Target {
  readonly instanceId: string;
  readonly read: ArmRequest;
  readonly update: Update;
  readonly effect: Exclude<CallEffect, 'reads'>;
  /** Decides from the fresh model. May reject with a CloudError. */
  readonly prepare: (model: VmModel, context: CallContext) => Promise<Prepared> | Prepared;
}

export type Prepared =
  | { readonly kind: 'change'; readonly model: JsonObject; readonly goal: Goal }
  /** An earlier request with this goal arrived. */
  | { readonly kind: 'sent'; readonly goal: Goal }
  /** The last change failed, and its effect is not certain yet. Nothing is decided before. */
  | { readonly kind: 'unsure' }
  /** There is nothing to change. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: ModelProblem | PrepareProblem; readonly problem: string };

/** Why nothing is sent although the model could be changed. */
export type PrepareProblem = 'PreparationTooSlow';

export type ModelResult =
  | { readonly kind: 'shown'; readonly addressesByInterface: AddressesByInterface }
  | Exclude<Outcome, { kind: 'done' }>;

/** How often the model is read again because somebody changed it between our read and our PUT. */
const maxTries = 3;

/**
 * Resolves once the interfaces show the change, or it is sure not to come. Never rejects for anything Azure does. The first
 * PUT has its tokens.
 */
export async function changeModel(
  parts: UpdateParts,
  target: Target,
  context: CallContext,
): Promise<ModelResult> {
  const tokens = new Tokens(parts.client);
  try {
    return await tryUpTo(maxTries, { ...parts, tokens }, { target, context });
  } catch (error) {
    if (error instanceof CloudError) return { kind: 'failed', failure: error.failure };
    throw error;
  } finally {
    tokens.refund(putOf(target, {}));
  }
}

/**
 * The tokens of the next PUT: the first ones came with the operation. They are held before the model is read, so that a PUT
 * leaves right after what it was decided from, and go back if there is none.
 */
class Tokens {
  readonly #client: ArmClient;
  #isHeld = true;

  constructor(client: ArmClient) {
    this.#client = client;
  }

  async hold(request: ArmRequest, context: CallContext): Promise<void> {
    if (!this.#isHeld) await this.#client.admit(request, context);
    this.#isHeld = true;
  }

  write(request: ArmRequest, context: CallContext): Promise<WriteResult<ArmAnswer>> {
    this.#isHeld = false;
    return this.#client.writeAdmitted(request, context);
  }

  refund(request: ArmRequest): void {
    if (this.#isHeld) this.#client.refund(request);
    this.#isHeld = false;
  }
}

interface Work {
  readonly target: Target;
  readonly context: CallContext;
}

async function tryUpTo(
  tries: number,
  parts: UpdateParts & { readonly tokens: Tokens },
  work: Work,
): Promise<ModelResult> {
  const { target, context } = work;
  await parts.tokens.hold(putOf(target, {}), context);
  const model = await readModel(parts.client, target, context);
  const prepared = await target.prepare(model, context);
  if (prepared.kind === 'done') return { kind: 'shown', addressesByInterface: new Map() };
  if (prepared.kind === 'unsure') return whenCertain(tries, parts, work);
  if (prepared.kind === 'refused') return refusedBy(target, prepared);
  const { goal } = prepared;
  if (prepared.kind === 'sent') {
    parts.tokens.refund(putOf(target, {}));
    return waitForEnd(parts, { ...work, goal }, undefined);
  }
  // A late PUT without it would undo what others changed meanwhile.
  if (model.etag === undefined) throw unreadable(target.read, 'etag is missing');
  const written = await parts.tokens.write(
    putOf(target, { body: prepared.model, etag: model.etag }),
    context,
  );
  if (written.kind === 'answered') return waitForEnd(parts, { ...work, goal }, acceptanceIn(written.output));
  if (written.kind === 'ambiguous') return afterLostAnswer(parts, { ...work, goal }, written.failure);
  if (written.failure.code !== 'PreconditionFailed' || tries <= 1) return written;
  return tryUpTo(tries - 1, parts, work);
}

async function whenCertain(
  tries: number,
  parts: Parameters<typeof tryUpTo>[1],
  work: Work,
): Promise<ModelResult> {
  const { target, context } = work;
  if (tries <= 1) return refusedBy(target, notCertain);
  await parts.failedModels.waitUntilCertain(target.instanceId, context.signal);
  return tryUpTo(tries - 1, parts, work);
}

function refusedBy(
  { update }: Target,
  { code, problem }: Extract<Prepared, { kind: 'refused' }>,
): ModelResult {
  return { kind: 'failed', failure: failure({ operation: update }, code, problem) };
}

function putOf(
  { read, update, effect }: Pick<Target, 'read' | 'update' | 'effect'>,
  { body = {}, etag }: { readonly body?: JsonObject; readonly etag?: string | undefined },
): ArmRequest {
  return replacing(read, update, { body, etag, effect });
}

type Sent = Work & { readonly goal: Goal };

/** If the model is as we want it, the request arrived. If not, it may still be on its way. */
async function afterLostAnswer(parts: UpdateParts, work: Sent, lost: CloudFailure): Promise<ModelResult> {
  const { target, context, goal } = work;
  try {
    const { body } = await readModel(parts.client, target, { ...context, inFlight: true });
    if (hasArrived(goal, body)) return await waitForEnd(parts, work, undefined);
  } catch (error) {
    if (!(error instanceof CloudError) && !context.signal.aborted) throw error;
  }
  return { kind: 'ambiguous', failure: lost };
}

function hasArrived({ kind, names }: Goal, model: JsonObject): boolean {
  if (kind === 'associated') return [...names.keys()].every((name) => holdsAssociation(model, name));
  return kind === 'added' ? holdsAll(model, names) : holdsNone(model, names);
}

async function readModel(client: ArmClient, { read }: Target, context: CallContext): Promise<VmModel> {
  const { answer } = await client.readOne(read, context);
  if (!isObject(answer.body)) throw unreadable(read, 'it is no model');
  return { body: answer.body, etag: answer.etag };
}

async function waitForEnd(
  { changes, client }: UpdateParts,
  { target, goal, context }: Sent,
  accepted: Acceptance | undefined,
): Promise<ModelResult> {
  const { instanceId, read, update: operation } = target;
  const result = resultOf(await changes.wait({ instanceId, read, operation, goal, accepted }, context));
  client.ended(
    context,
    result.kind === 'shown' ? { kind: 'done', addresses: addedIn(goal, result) } : result,
  );
  return result;
}

/** The interfaces of a VM, as they are now. Rejects with a CloudError. */
export async function readInterfaces(
  { client, spellings }: UpdateParts,
  vm: ScaleSetVm,
  context: CallContext,
): Promise<readonly ShownInterface[]> {
  const request = scaleSetVmInterfaces(vm);
  const { items } = await client.readList(request, (item) => readInterface(item, spellings), context);
  return items;
}

/** The model of a VM without what a failed change left; undefined while that is not certain. Rejects with a CloudError. */
export async function withoutLeftovers(
  parts: UpdateParts,
  { instanceId, vm }: { readonly instanceId: string; readonly vm: ScaleSetVm },
  model: VmModel,
  context: CallContext,
): Promise<JsonObject | undefined> {
  if (!hasFailed(model.body)) return model.body;
  return parts.failedModels.cleaned(instanceId, model, await readInterfaces(parts, vm, context));
}

/** Nothing is sent before it is certain what a failed change left. */
export const notCertain = {
  kind: 'refused',
  code: 'ModelIsChanging',
  problem: 'the last change failed, and it is not certain yet what it left',
} as const satisfies Prepared;

/** The addresses that the interfaces show for what was added. */
function addedIn({ kind, names }: Goal, { addressesByInterface }: Shown): readonly string[] {
  if (kind !== 'added') return [];
  return [...names].flatMap(([name, each]) => {
    const shown = addressesByInterface.get(name.toLowerCase());
    return each.flatMap((configuration) => shown?.get(configuration) ?? []);
  });
}

type Shown = Extract<ModelResult, { kind: 'shown' }>;

function resultOf(end: EndOfChange): ModelResult {
  if (end.kind === 'failed') return { kind: 'failed', failure: end.failure };
  if (end.kind === 'unclear') return { kind: 'ambiguous', failure: end.failure };
  return end;
}

/** The resource whose model a PUT changes. `vm`: undefined for an interface that is a resource of its own. */
export interface Resource extends Pick<Target, 'instanceId' | 'read' | 'update'> {
  readonly vm: ScaleSetVm | undefined;
}

/** A scale-set VM has one model for all its interfaces; an interface of another VM has its own. Undefined if there is none. */
export function resourceOf({ instanceId, interfaceId }: OnInterface): Resource | undefined {
  const vm = parseInstanceId(instanceId);
  if (vm?.kind === 'scaleSetVm')
    return { instanceId, vm, read: scaleSetVm(vm), update: 'VirtualMachineScaleSetVMs.Update' };
  const id = parseInterfaceId(interfaceId);
  if (vm === undefined || id === undefined) return undefined;
  return { instanceId, vm: undefined, read: oneInterface(id), update: 'Interfaces.CreateOrUpdate' };
}

/** The change of an instance, as its limits see it. Undefined if it is no instance of Azure. */
export function admittedFor(instanceId: string, effect: Target['effect'] = 'adds'): ArmRequest | undefined {
  const instance = parseInstanceId(instanceId);
  if (instance === undefined) return undefined;
  return instance.kind === 'scaleSetVm'
    ? putOf({ read: scaleSetVm(instance), update: 'VirtualMachineScaleSetVMs.Update', effect }, {})
    : putOf({ read: standaloneVm(instance), update: 'Interfaces.CreateOrUpdate', effect }, {});
}

export function noSuchTarget(named: OnInterface): CloudFailure {
  const text = `Azure has no such instance or interface: ${instanceKey(named.instanceId)}, ${named.interfaceId}`;
  return failure({ operation: 'VirtualMachineScaleSetVMs.Update' }, 'InvalidResourceId', text);
}
