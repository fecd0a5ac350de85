// Waits for the end of changes that ARM has accepted. An operation that succeeded has not ended for us until the
// interfaces show it. While many are in flight, one list of a scale set shows the progress of all its instances.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { policyOf } from '../contract/failure-policy.ts';
import { type PendingOperation, Poller, type Progress } from '../pending/poller.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorIn } from './arm-answer.ts';
import { type ArmAnswer, type ArmOperation, type ArmRequest, text } from './arm-api.ts';
import type { Json } from '../../runtime/json.ts';
import { type ArmClient, failure } from './arm-client.ts';
import {
  type InstanceRef,
  instanceKey,
  nameOfInterface,
  parseInstanceId,
  scaleSetKey,
  type Spellings,
} from './ids.ts';
import type { NamesByInterface } from './instance-model.ts';
import { readInterface, type ShownInterface } from './network-interface.ts';
import { following, scaleSetInterfaces, scaleSetVmInterfaces } from './requests.ts';

/** A change that was accepted. */
export interface Change {
  readonly instanceId: string;
  /** Reads the resource that is changing. */
  readonly read: ArmRequest;
  /** The operation that was sent. */
  readonly operation: ArmOperation;
  readonly goal: Goal;
  /** Undefined if the answer was lost. */
  readonly accepted: Acceptance | undefined;
}

/**
 * The state of the interfaces once a change has taken effect: these configurations are there, these are gone, or the
 * primary one, whatever its name, has a public address.
 */
export interface Goal {
  readonly kind: 'added' | 'removed' | 'associated';
  readonly names: NamesByInterface;
}

/** The progress that the answer to a change tells. The model in the answer is not kept while the change goes on. */
export interface Acceptance extends Pick<ArmAnswer, 'progressUrl' | 'retryAfter'> {
  readonly hasEnded: boolean;
}

export function acceptanceIn(answer: ArmAnswer): Acceptance {
  const { progressUrl, retryAfter } = answer;
  return { progressUrl, retryAfter, hasEnded: progressUrl === undefined && wordOf(answer) === 'succeeded' };
}

export type EndOfChange =
  | {
      readonly kind: 'shown';
      /** Addresses by the names of their configurations, by the names of their interfaces in lower case. */
      readonly addressesByInterface: AddressesByInterface;
    }
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  /** Nobody waits for it any longer, or what it added is not shown. */
  | { readonly kind: 'unclear'; readonly failure: CloudFailure };

export type AddressesByInterface = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The interfaces of a scale set, by their instances. */
type SetView = ReadonlyMap<string, readonly ShownInterface[]>;

export interface ChangesOptions {
  readonly client: ArmClient;
  readonly spellings: Spellings;
  readonly clock: Clock;
  readonly crowd?: number;
}

export class Changes {
  readonly #client: ArmClient;
  readonly #spellings: Spellings;
  readonly #poller: Poller<SetView>;
  readonly #sets = new Map<string, InstanceRef & { readonly kind: 'scaleSetVm' }>();

  constructor({ client, spellings, clock, crowd }: ChangesOptions) {
    this.#client = client;
    this.#spellings = spellings;
    this.#poller = new Poller({
      clock,
      readGroup: (group, context) => this.#readSet(group, context),
      ...(crowd !== undefined && { crowd }),
    });
  }

  /** Changes in flight. */
  get size(): number {
    return this.#poller.size;
  }

  /** Resolves within 10 minutes, and as soon as the signal of `context` aborts. */
  async wait(change: Change, context: CallContext): Promise<EndOfChange> {
    try {
      const end = await this.#poller.wait(this.#pending(change, context), change.accepted?.retryAfter);
      if (end !== 'overdue') return end;
      return { kind: isRemoval(change) ? 'unclear' : 'failed', failure: overdue(change) };
    } catch (error) {
      if (!context.signal.aborted) throw error;
      const problem = 'Headwater shut down before Azure ended the change';
      return { kind: 'unclear', failure: failure(change, 'Ended', problem) };
    }
  }

  #pending(change: Change, context: CallContext): PendingOperation<SetView, EndOfChange> {
    const instance = parseInstanceId(change.instanceId);
    const group = instance && scaleSetKey(instance);
    if (group !== undefined && instance?.kind === 'scaleSetVm') this.#sets.set(group, instance);
    const state = stateAtFirst(change);
    return {
      group,
      caller: context.caller,
      signal: context.signal,
      poll: () => this.#poll(change, state, { ...context, inFlight: true }),
      find: (view) => progressInGroup(change, state, view.get(instanceKey(change.instanceId)) ?? []),
    };
  }

  async #poll(change: Change, state: ChangeState, context: CallContext): Promise<Progress<EndOfChange>> {
    try {
      if (!state.hasEnded) {
        const { answer } = await this.#client.read(progressRequest(change, state), context);
        const progress = progressOfOperation(change, answer);
        if (progress !== 'succeeded' && progress.kind === 'pending') return progress;
        state.hasEnded = true;
        if (progress !== 'succeeded') Object.assign(state, { failed: progress, missed: 0 });
      }
      return await this.#look(change, state, context);
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      // The resource itself says how it went, too.
      if (isNotShown(error)) state.progressUrl = undefined;
      if (policyOf(error.failure).invalidates === 'existence') return notFound(change, state);
      state.absent = 0;
      return { kind: 'pending' };
    }
  }

  /** Reads the interfaces of the instance. */
  async #look(change: Change, state: ChangeState, context: CallContext): Promise<Progress<EndOfChange>> {
    const instance = parseInstanceId(change.instanceId);
    const convert = (item: Json): ShownInterface | undefined => readInterface(item, this.#spellings);
    if (instance?.kind === 'scaleSetVm') {
      const { items } = await this.#client.readList(scaleSetVmInterfaces(instance), convert, context);
      return items.length === 0 ? notFound(change, state) : progressIn(change, state, items);
    }
    const { answer } = await this.#client.read(change.read, context);
    const shown = convert(answer.body);
    return progressIn(change, state, shown === undefined ? [] : [shown]);
  }

  async #readSet(
    group: string,
    { caller, signal }: Pick<CallContext, 'caller' | 'signal'>,
  ): Promise<SetView | undefined> {
    const set = this.#sets.get(group);
    if (set === undefined) throw new Error(`${group} has no change`);
    try {
      const context = { caller, signal, inFlight: true } as const;
      const { items } = await this.#client.readList(
        scaleSetInterfaces(set),
        (item) => readInterface(item, this.#spellings),
        context,
      );
      return Map.groupBy(items, ({ instanceId }) => instanceId);
    } catch (error) {
      if (error instanceof CloudError) return undefined;
      throw error;
    }
  }
}

interface ChangeState {
  /** The URL that shows the progress of the change; undefined if only the resource does. */
  progressUrl: string | undefined;
  /** Whether ARM says that the change succeeded. Added configurations may appear later. */
  hasEnded: boolean;
  /**
   * The failure of the change; undefined if it did not fail. A failed change may be done in part, so the interfaces are
   * read.
   */
  failed: Progress<EndOfChange> | undefined;
  /** How often the interfaces were seen ready, and not as the change leaves them. */
  missed: number;
  /** How often in a row a read did not find the instance. */
  absent: number;
}

function stateAtFirst({ accepted }: Change): ChangeState {
  return {
    progressUrl: accepted?.progressUrl,
    hasEnded: accepted?.hasEnded === true,
    failed: undefined,
    missed: 0,
    absent: 0,
  };
}

/** After that many looks at interfaces that are ready without our addresses, a change that has ended has failed. */
const maxMissedReads = 5;
/** After that many, the operation itself is asked. */
const suspicious = 2;
/** After that many reads in a row that do not find the instance, nobody waits for its change any longer. */
const maxAbsences = 3;

/** Where an instance vanished, nothing ends its change. Reads of its owner decide what follows. */
function notFound(change: Change, state: ChangeState): Progress<EndOfChange> {
  state.absent++;
  if (state.absent < maxAbsences) return { kind: 'pending' };
  const problem = 'Azure no longer finds the VM or the interface that it was changing';
  return {
    kind: 'ended',
    result: { kind: 'unclear', failure: failure(change, 'InstanceNotFound', problem) },
  };
}

function progressInGroup(
  change: Change,
  state: ChangeState,
  shown: readonly ShownInterface[],
): Progress<EndOfChange> {
  const progress = progressIn(change, state, shown);
  if (progress.kind === 'ended' || state.hasEnded) return progress;
  return { kind: 'pending', isOdd: state.missed >= suspicious || shown.length === 0 };
}

function progressIn(
  change: Change,
  state: ChangeState,
  shown: readonly ShownInterface[],
): Progress<EndOfChange> {
  state.absent = 0;
  const view = viewOf(change, shown);
  if (view === 'changing') return { kind: 'pending' };
  if (typeof view !== 'string')
    return { kind: 'ended', result: { kind: 'shown', addressesByInterface: view } };
  state.missed++;
  // Addresses that a removal left are offered again. Wait for as many reads as for an addition, so that no stale read
  // decides it.
  const max = state.failed === undefined || isRemoval(change) ? maxMissedReads : suspicious;
  if (!state.hasEnded || state.missed < max) return { kind: 'pending' };
  if (state.failed !== undefined && view === 'untouched') return state.failed;
  // The change took effect, and asking for more would add to it.
  const result = { kind: 'unclear', failure: failure(change, 'ChangeNotShown', notShown[view]) } as const;
  return { kind: 'ended', result };
}

const notShown = {
  incomplete: 'the interface is ready and has some of the addresses',
  untouched: 'the interface is ready and shows nothing of the change',
  unreadable: 'the interface cannot be read after the change',
} as const;

/** The addresses of the interfaces, once the change is done on all of them. */
function viewOf(
  { goal }: Change,
  shown: readonly ShownInterface[],
): AddressesByInterface | 'changing' | keyof typeof notShown {
  const byName = new Map(shown.map((item) => [nameOfInterface(item.id).toLowerCase(), item.read]));
  const addresses = new Map<string, ReadonlyMap<string, string>>();
  const found: boolean[] = [];
  let isPartDone = false;
  for (const [name, wanted] of goal.names) {
    const read = byName.get(name.toLowerCase());
    if (read === undefined) return 'changing';
    if ('problem' in read) return 'unreadable';
    if (read.interface.condition === 'changing') return 'changing';
    addresses.set(name.toLowerCase(), read.addressesByName);
    found.push(...wanted.map((each) => isDone[goal.kind](read, each)));
    // A configuration that exists but is not ready came with the change, too.
    isPartDone ||= goal.kind === 'added' && wanted.some((each) => read.names.has(each));
  }
  if (found.every((each) => each)) return addresses;
  return isPartDone || found.some((each) => each) ? 'incomplete' : 'untouched';
}

type Read = Exclude<ShownInterface['read'], { readonly problem: string }>;

const isDone = {
  added: (read, name) => read.addressesByName.has(name),
  removed: (read, name) => !read.names.has(name),
  associated: (read) => read.publicAddressId !== undefined,
} as const satisfies Record<Goal['kind'], (read: Read, name: string) => boolean>;

function isRemoval({ goal }: Change): boolean {
  return goal.kind === 'removed';
}

function progressRequest({ read }: Change, { progressUrl }: ChangeState): ArmRequest {
  if (progressUrl === undefined) return read;
  return following(
    read,
    progressUrl,
    read.provider === 'network' ? 'NetworkOperations.Get' : 'Operations.Get',
  );
}

function ended(change: Change, code: string, message: string): Progress<EndOfChange> {
  return { kind: 'ended', result: { kind: 'failed', failure: failure(change, code, message) } };
}

/** The state of an operation, or of the resource itself. */
function progressOfOperation(
  change: Change,
  { status, body, retryAfter }: Pick<ArmAnswer, 'status' | 'body' | 'retryAfter'>,
): Progress<EndOfChange> | 'succeeded' {
  const word = wordOf({ status, body });
  if (word === 'succeeded') return 'succeeded';
  if (word !== 'failed' && word !== 'canceled') return { kind: 'pending', retryAfter };
  const { code, message } = errorIn(body, status);
  return ended(change, code.startsWith('HTTP') ? 'OperationFailed' : code, message);
}

/**
 * The status of an operation, or of the resource itself. An answer without a body has the one that its HTTP status means.
 */
function wordOf({ status, body }: Pick<ArmAnswer, 'status' | 'body'>): string {
  const state = text(body, 'status') ?? text(body, 'properties', 'provisioningState');
  return (state ?? (status === 202 ? 'InProgress' : 'Succeeded')).toLowerCase();
}

/** ARM forgets operations after a while, a role may not show them, and a URL may lead to where nothing is asked. */
function isNotShown({ failure }: CloudError): boolean {
  const { kind, code } = failure;
  const { invalidates, retry } = policyOf(failure);
  const isForgotten = code === 'NotFound' || code === 'ResourceNotFound' || code === 'HTTP404';
  // An error of the server alone says nothing about the operation.
  return isForgotten || invalidates === 'existence' || (retry === 'later' && kind !== 'unknown');
}

function overdue(change: Change): CloudFailure {
  return failure(change, 'OperationNotEnded', 'Azure has not ended the change within 10 minutes');
}
