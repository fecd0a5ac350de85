// Executes operations on ECS: one operation, one call, and for an attachment the wait for its end.
import type { CallContext } from '../contract/cloud.ts';
import type {
  Answer,
  AllocateIPs,
  AttachInterface,
  CreateInterface,
  DeleteInterface,
  Operation,
  OperationKind,
  Outcome,
  ReleaseIPs,
} from '../contract/operations.ts';
import { type CloudFailure, unreadable } from '../contract/cloud-failure.ts';
import { CallError } from '../gate/cloud-call.ts';
import { holdingProblem } from '../reading/plausible.ts';
import type { Clock } from '../../runtime/clock.ts';
import { retry } from '../../runtime/retry.ts';
import { intern } from '../../runtime/intern.ts';
import type { InterfaceWaits } from './interface-waits.ts';
import { failureOf } from './errors.ts';
import { attachmentIdOf, indexTag, requestTags, tryRead } from './network-interface.ts';
import type { RpcAction } from './rpc-api.ts';
import type { RpcClient } from './rpc-client.ts';

/**
 * Operations that the traits rule out have no call. Nor has a detachment: pods use the primary address of an interface, which
 * cannot be unassigned, so none is ever idle.
 */
export const actionOf = {
  createInterface: 'CreateNetworkInterface',
  attachInterface: 'AttachNetworkInterface',
  allocateIPs: 'AssignPrivateIpAddresses',
  allocatePrefixes: undefined,
  allocateIpv6Prefix: undefined,
  releaseIPs: 'UnassignPrivateIpAddresses',
  releasePrefixes: undefined,
  associateStaticIP: undefined,
  setDeleteOnTermination: undefined,
  detachInterface: undefined,
  deleteInterface: 'DeleteNetworkInterface',
} as const satisfies Record<OperationKind, RpcAction | undefined>;

/** Attempts of an assignment whose answer was lost. */
const maxTries = 4;
/** After a first attempt, in ms. */
const pause = 1000;

export interface Performing {
  readonly client: RpcClient;
  readonly waits: InterfaceWaits;
  readonly clock: Clock;
  readonly context: CallContext;
  /** In ms. */
  readonly consistencyWindow: number;
}

export function perform(call: Performing, operation: Operation): Promise<Outcome> {
  switch (operation.kind) {
    case 'createInterface':
      return createInterface(call, operation);
    case 'attachInterface':
      return attachInterface(call, operation);
    case 'allocateIPs':
      return allocate(call, operation);
    case 'releaseIPs':
      return release(call, operation);
    case 'deleteInterface':
      return deleteInterface(call, operation);
    default:
      throw new Error(`there is no ${operation.kind} on Alibaba Cloud`);
  }
}

async function createInterface(call: Performing, operation: CreateInterface): Promise<Outcome> {
  const { subnetId, addressCount, deviceIndex } = operation;
  const input = {
    vSwitchId: subnetId,
    securityGroupIds: operation.securityGroupIds,
    description: operation.description,
    deleteOnRelease: true,
    tag: requestTags({ ...operation.tags, [indexTag]: String(deviceIndex) }),
    clientToken: operation.token,
    ...(addressCount > 0 && { secondaryPrivateIpAddressCount: addressCount }),
  };
  let isReady = true;
  const outcome = stillOpen(
    await call.client.change('CreateNetworkInterface', input, call.context, (shown) => {
      const read = tryRead(shown);
      if ('problem' in read) return read;
      if (read.interface.subnetId !== subnetId) return { problem: 'it is in another vSwitch' };
      isReady = shown.status !== 'Creating';
      // We requested a plain interface, whatever type the answer shows.
      return { kind: 'created', interface: { ...read.interface, reservedFor: undefined } };
    }),
  );
  // An interface that is being created cannot be attached yet.
  if (outcome.kind === 'done' && outcome.answer.kind === 'created' && !isReady)
    await call.waits.created(outcome.answer.interface.id, call.context);
  return outcome;
}

/** An earlier request with the same token is still under way: this one says nothing about its end. */
function stillOpen(outcome: Outcome): Outcome {
  const isOpen = outcome.kind === 'failed' && outcome.failure.code === 'IdempotentProcessing';
  return isOpen ? { kind: 'ambiguous', failure: outcome.failure } : outcome;
}

/** The refusal of a repeated request does not tell whether the lost one took effect, except that its interface is gone. */
function stillLost(outcome: Outcome): Outcome {
  const isOpen = outcome.kind === 'failed' && outcome.failure.kind !== 'interfaceGone';
  return isOpen ? { kind: 'ambiguous', failure: outcome.failure } : outcome;
}

/** The cloud works on after it accepted an attachment. One that falls back is tried once more. */
function attachInterface(call: Performing, operation: AttachInterface): Promise<Outcome> {
  const { client, clock, context } = call;
  const attempt = async (tries: number): Promise<Outcome> => {
    if (tries > 1) await client.admit(['AttachNetworkInterface'], context);
    return attachOnce(call, operation);
  };
  return retry({ clock, signal: context.signal }, attempt, (outcome, tries) =>
    tries === 1 && outcome.kind === 'failed' && outcome.failure.code === fellBackCode ? pause : undefined,
  );
}

async function attachOnce(call: Performing, operation: AttachInterface): Promise<Outcome> {
  const { interfaceId, instanceId } = operation;
  const action = 'AttachNetworkInterface';
  const input = { networkInterfaceId: interfaceId, instanceId };
  const result = await call.client.write(action, input, call.context);
  if (result.kind !== 'answered') return result;
  return call.client.reportEnd(action, call.context, attachmentOf(call, operation));
}

async function attachmentOf(call: Performing, operation: AttachInterface): Promise<Outcome> {
  const { interfaceId, instanceId, deviceIndex } = operation;
  const end = await call.waits.attached(operation, call.context);
  // The interface stays busy, and the operation may still end.
  if (end === 'overdue') return { kind: 'ambiguous', failure: notEnded(operation) };
  if (end === 'fellBack') return { kind: 'failed', failure: fellBack(operation) };
  const attachmentId = attachmentIdOf(interfaceId, instanceId);
  const answer = { kind: 'attached', interfaceId, instanceId, deviceIndex, attachmentId } as const;
  const read = tryRead(end.item);
  if ('problem' in read) return { kind: 'done', answer };
  const shown = { interface: read.interface, startedAt: end.startedAt };
  return { kind: 'done', answer: { ...answer, shown } };
}

const fellBackCode = 'AttachmentFellBack';

function fellBack({ interfaceId, instanceId }: AttachInterface): CloudFailure {
  return failure(fellBackCode, `${interfaceId} is available again instead of attached to ${instanceId}`);
}

function notEnded({ interfaceId, instanceId }: AttachInterface): CloudFailure {
  return failure(
    'AttachmentNotEnded',
    `${interfaceId} is still being attached to ${instanceId} after 2 minutes; nothing is assigned to it meanwhile`,
  );
}

function failure(code: string, message: string): CloudFailure {
  const error = new CallError({ result: 'refused', code, message });
  return failureOf({ name: 'AttachNetworkInterface' }, error);
}

/**
 * The token makes the request safe to repeat until an answer comes. That answer is as old as the first request: what was
 * assigned then may be gone by now, so a read decides.
 */
async function allocate(call: Performing, operation: AllocateIPs): Promise<Outcome> {
  const { clock, context, client, consistencyWindow } = call;
  const since = clock.monotonic();
  let isRepeated = false;
  const attempt = async (tries: number): Promise<Outcome> => {
    isRepeated = tries > 1;
    if (isRepeated) await client.admit(['AssignPrivateIpAddresses'], context);
    const outcome = stillOpen(await allocateOnce(call, operation));
    return isRepeated ? stillLost(outcome) : outcome;
  };
  const outcome = await retry({ clock, signal: context.signal }, attempt, ({ kind }, tries) => {
    const isClear = kind !== 'ambiguous' || operation.operationId === undefined;
    return isClear || tries === maxTries ? undefined : pause * tries;
  });
  const isOld = isRepeated && clock.monotonic() - since > consistencyWindow;
  return outcome.kind === 'done' && isOld ? outdated() : outcome;
}

function outdated(): Outcome {
  const message = 'the answer says what an earlier request with the same token was given, too long ago';
  return { kind: 'ambiguous', failure: unreadable(actionOf.allocateIPs, message).failure };
}

function allocateOnce(call: Performing, operation: AllocateIPs): Promise<Outcome> {
  const { interfaceId, instanceId, count, operationId } = operation;
  const input = {
    networkInterfaceId: interfaceId,
    secondaryPrivateIpAddressCount: count,
    ...(operationId !== undefined && { clientToken: operationId }),
  };
  return call.client.change(
    'AssignPrivateIpAddresses',
    input,
    call.context,
    ({ assignedPrivateIpAddressesSet: given = {} }) => {
      if ((given.networkInterfaceId ?? interfaceId) !== interfaceId)
        return { problem: `it is about ${given.networkInterfaceId}` };
      const addresses = (given.privateIpSet?.privateIpAddress ?? []).map(intern);
      const problem = addresses.length === 0 ? 'it names no addresses' : holdingProblem(addresses);
      if (problem !== undefined) return { problem };
      return { kind: 'allocated', interfaceId, instanceId, addresses, prefixes: [] };
    },
  );
}

function release(call: Performing, { interfaceId, instanceId, addresses }: ReleaseIPs): Promise<Outcome> {
  const input = { networkInterfaceId: interfaceId, privateIpAddress: addresses };
  const answer: Answer = { kind: 'released', interfaceId, instanceId, holdings: addresses };
  return call.client.change('UnassignPrivateIpAddresses', input, call.context, () => answer);
}

function deleteInterface(call: Performing, { interfaceId }: DeleteInterface): Promise<Outcome> {
  const input = { networkInterfaceId: interfaceId };
  return call.client.change('DeleteNetworkInterface', input, call.context, () => ({
    kind: 'deleted',
    interfaceId,
  }));
}
