// Every request to ARM goes through here to the gate, and what its answers say of the limits comes back.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { CallError, type CloudCall, type Sending } from '../gate/cloud-call.ts';
import { follow } from '../gate/action-client.ts';
import type { CallGate, WriteResult } from '../gate/call-gate.ts';
import type { ChangeEnd } from '../gate/settled-change.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from './arm-api.ts';
import type { Json } from '../../runtime/json.ts';
import { list, text } from './arm-api.ts';
import { following } from './requests.ts';
import { remainingCalls } from './limit-headers.ts';
import { limitsOf } from './limits.ts';
import { failureOf } from './errors.ts';

export interface ReadAnswer {
  /** When the request was sent, in monotonic ms. */
  readonly startedAt: number;
  readonly answer: ArmAnswer;
}

export class ArmClient {
  readonly #api: ArmApi;
  readonly #gate: CallGate;

  constructor({ api, gate }: { readonly api: ArmApi; readonly gate: CallGate }) {
    this.#api = api;
    this.#gate = gate;
  }

  /** Rejects with a CloudError. */
  async read(request: ArmRequest, context: CallContext): Promise<ReadAnswer> {
    const { startedAt, output } = await this.#gate.read(callOf(request), context, (sending) =>
      this.#api.send(request, sending),
    );
    this.#learnLimits(request, output);
    return { startedAt, answer: output };
  }

  /** Reads one resource. An answer about anything else says nothing of it. Rejects with a CloudError. */
  async readOne(request: ArmRequest, context: CallContext): Promise<ReadAnswer> {
    const read = await this.read(request, context);
    const id = text(read.answer.body, 'id');
    const [path = ''] = request.url.split('?');
    if (id?.toLowerCase() !== decodeURIComponent(path).toLowerCase())
      throw unreadable(request, `it is about ${id ?? 'nothing'}`);
    return read;
  }

  /** Reads a list to its end. Converts each item as it comes, so that no page is kept. Rejects with a CloudError. */
  async readList<T>(
    request: ArmRequest,
    convert: (item: Json) => T | undefined,
    context: CallContext,
  ): Promise<{ readonly startedAt: number; readonly items: readonly T[] }> {
    const items: T[] = [];
    let first: number | undefined;
    const read = (url: string | undefined): Promise<ReadAnswer> =>
      this.read(url === undefined ? request : following(request, url), context);
    const nextIn = ({ answer }: ReadAnswer): string | undefined => text(answer.body, 'nextLink');
    for await (const { startedAt, answer } of follow(request.operation, read, nextIn)) {
      const page = list(answer.body, 'value');
      if (page === undefined) throw unreadable(request, 'value is missing');
      first ??= startedAt;
      for (const item of page) {
        const converted = convert(item);
        if (converted !== undefined) items.push(converted);
      }
    }
    return { startedAt: first ?? 0, items };
  }

  /** Waits for the limits of a change. Rejects with the reason of the signal. */
  async admit(request: ArmRequest, context: CallContext): Promise<void> {
    await this.#gate.admit([callOf(request)], context);
  }

  /** Sends an admitted change once. */
  async writeAdmitted(request: ArmRequest, context: CallContext): Promise<WriteResult<ArmAnswer>> {
    const send = (sending: Sending): Promise<ArmAnswer> => this.#api.send(request, sending);
    const requestId = (answer: ArmAnswer): string | undefined => answer.requestId;
    const result = await this.#gate.write(callOf(request), context, send, { requestId });
    if (result.kind === 'answered') this.#learnLimits(request, result.output);
    return result;
  }

  /** Reports how a change ends that Azure had accepted, or whose answer was lost. */
  ended(context: CallContext, end: ChangeEnd): void {
    this.#gate.ended(context, end);
  }

  /** An admitted change is not sent after all. */
  refund(request: ArmRequest): void {
    this.#gate.limits.refund([callOf(request)]);
  }

  #learnLimits(request: ArmRequest, { remaining }: ArmAnswer): void {
    for (const { limit, count } of remainingCalls(request, remaining))
      this.#gate.limits.remaining(limit, count);
  }
}

/** A request as the gate sees it. */
export function callOf(request: ArmRequest): CloudCall {
  const { operation: name, method, effect = 'adds' } = request;
  return { name, effect: method === 'GET' ? 'reads' : effect, limits: limitsOf(name, request) };
}

/** The failure of an operation that the cloud accepted, or that ends before it is sent. */
export function failure(request: Pick<ArmRequest, 'operation'>, code: string, message: string): CloudFailure {
  return failureOf({ name: request.operation }, new CallError({ result: 'refused', code, message }));
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(request: Pick<ArmRequest, 'operation'>, problem: string): CloudError {
  return new CloudError(failure(request, 'UnreadableAnswer', `cannot understand the answer: ${problem}`));
}
