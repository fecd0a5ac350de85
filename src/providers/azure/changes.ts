// Waits for the end of changes that ARM has accepted. An operation that succeeded has not ended for us until its
// addresses are shown. While many are in flight, one list of a scale set shows the progress of all its instances.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { type PendingOperation, Poller, type Progress } from '../pending/poller.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorIn } from './arm-answer.ts';
import { type ArmRequest, type Json, text } from './arm-api.ts';
import { type ArmClient, failure } from './arm-client.ts';
import { type InstanceRef, instanceKey, nameOfInterface, parseInstanceId, scaleSetKey } from './ids.ts';
import type { NamesByInterface } from './instance-model.ts';
import { readInterface, type ShownInterface } from './network-interface.ts';
import { following, scaleSetInterfaces, scaleSetVmInterfaces } from './requests.ts';
import type { Spellings } from './spellings.ts';

/** A change that was accepted. */
export interface Change {
  readonly instanceId: string;
  /** The resource that is changing, and the change. */
  readonly request: ArmRequest;
  readonly names: NamesByInterface;
  /** Undefined if the answer that named it was lost. */
  readonly progressUrl: string | undefined;
}

export type EndOfChange =
  | {
      readonly kind: 'shown';
      /** Addresses by the names of their configurations, by the names of their interfaces in lower case. */
      readonly addressesByInterface: AddressesByInterface;
    }
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  /** Nobody waits for it any longer. */
  | { readonly kind: 'abandoned'; readonly failure: CloudFailure };

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
  async wait(change: Change, context: CallContext, retryAfter: number | undefined): Promise<EndOfChange> {
    try {
      const end = await this.#poller.wait(this.#pending(change, context), retryAfter);
      return end === 'overdue' ? { kind: 'failed', failure: overdue(change) } : end;
    } catch (error) {
      if (!context.signal.aborted) throw error;
      return { kind: 'abandoned', failure: abandoned(change) };
    }
  }

  #pending(change: Change, context: CallContext): PendingOperation<SetView, EndOfChange> {
    const instance = parseInstanceId(change.instanceId);
    const group = instance && scaleSetKey(instance);
    if (group !== undefined && instance?.kind === 'scaleSetVm') this.#sets.set(group, instance);
    // Progress is read in parts: first of the operation, then of what it made.
    const state: ChangeState = { progressUrl: change.progressUrl, missed: 0 };
    return {
      group,
      priority: context.priority,
      signal: context.signal,
      poll: () => this.#poll(change, state, { ...context, inFlight: true }),
      find: (view) => progressIn(change, state, view.get(instanceKey(change.instanceId)) ?? []),
    };
  }

  async #poll(change: Change, state: ChangeState, context: CallContext): Promise<Progress<EndOfChange>> {
    try {
      const { progressUrl } = state;
      if (progressUrl === undefined) return await this.#look(change, state, context);
      const request = following(change.request, progressUrl, 'Operations.Get');
      const { answer } = await this.#client.read(request, context);
      const progress = progressOfOperation(change, answer);
      if (progress !== 'succeeded') return progress;
      state.progressUrl = undefined;
      return await this.#look(change, state, context);
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      // ARM forgets operations after a while, and the next poll may succeed.
      if (isForgotten(error)) state.progressUrl = undefined;
      return { kind: 'pending' };
    }
  }

  /** Reads the interfaces of the instance. */
  async #look(change: Change, state: ChangeState, context: CallContext): Promise<Progress<EndOfChange>> {
    const instance = parseInstanceId(change.instanceId);
    const convert = (item: Json): ShownInterface | undefined => readInterface(item, this.#spellings);
    if (instance?.kind === 'scaleSetVm') {
      const { items } = await this.#client.readList(scaleSetVmInterfaces(instance), convert, context);
      return progressIn(change, state, items);
    }
    const { answer } = await this.#client.read({ ...change.request, operation: 'Interfaces.Get' }, context);
    const shown = convert(answer.body);
    return progressIn(change, state, shown === undefined ? [] : [shown]);
  }

  async #readSet(
    group: string,
    { priority, signal }: Pick<CallContext, 'priority' | 'signal'>,
  ): Promise<SetView | undefined> {
    const set = this.#sets.get(group);
    if (set === undefined) throw new Error(`${group} has no change`);
    try {
      const context = { priority, signal, inFlight: true } as const;
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
  progressUrl: string | undefined;
  /** How often the interfaces were seen ready, without what the change adds. */
  missed: number;
}

/** After that many looks at interfaces that are ready without our addresses, the change has failed. */
const mostMissed = 5;

function progressIn(
  change: Change,
  state: ChangeState,
  shown: readonly ShownInterface[],
): Progress<EndOfChange> {
  const byName = new Map(shown.map((item) => [nameOfInterface(item.id).toLowerCase(), item.read]));
  const addresses = new Map<string, ReadonlyMap<string, string>>();
  let isComplete = true;
  let isReady = true;
  for (const [name, names] of change.names) {
    const read = byName.get(name.toLowerCase());
    if (read === undefined || 'problem' in read) return { kind: 'pending' };
    addresses.set(name.toLowerCase(), read.addressesByName);
    isComplete &&= names.every((each) => read.addressesByName.has(each));
    isReady &&= read.interface.condition !== 'changing';
  }
  if (!isReady) return { kind: 'pending' };
  if (isComplete) return { kind: 'ended', result: { kind: 'shown', addressesByInterface: addresses } };
  state.missed++;
  if (state.missed < mostMissed) return { kind: 'pending' };
  const problem = 'the interface is ready and does not have the addresses';
  return ended(change, 'ChangeNotShown', problem);
}

function ended({ request }: Change, code: string, message: string): Progress<EndOfChange> {
  return { kind: 'ended', result: { kind: 'failed', failure: failure(request, code, message) } };
}

/** The state of an operation, or of the resource itself. */
function progressOfOperation(
  change: Change,
  { status, body, retryAfter }: { readonly status: number; readonly body: Json; readonly retryAfter?: number | undefined },
): Progress<EndOfChange> | 'succeeded' {
  const state = text(body, 'status') ?? text(body, 'properties', 'provisioningState');
  const word = (state ?? (status === 202 ? 'InProgress' : 'Succeeded')).toLowerCase();
  if (word === 'succeeded') return 'succeeded';
  if (word !== 'failed' && word !== 'canceled') return { kind: 'pending', retryAfter };
  const { code, message } = errorIn(body, status);
  return ended(change, code.startsWith('HTTP') ? 'OperationFailed' : code, message);
}

function isForgotten({ failure: { kind, code } }: CloudError): boolean {
  return code === 'NotFound' || code === 'ResourceNotFound' || code === 'HTTP404' || kind === 'instanceGone';
}

function overdue({ request }: Change): CloudFailure {
  return failure(request, 'OperationNotEnded', 'Azure has not ended the change within 10 minutes');
}

function abandoned({ request }: Change): CloudFailure {
  return failure(request, 'Ended', 'Headwater shut down before Azure ended the change');
}
