// Every request to ARM goes through here to the gate, and what its answers say of the limits comes back.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { CallError } from '../gate/cloud-call.ts';
import type { CallGate, WriteResult } from '../gate/call-gate.ts';
import type { ArmAnswer, ArmApi, ArmRequest, Json } from './arm-api.ts';
import { list, text } from './arm-api.ts';
import { following } from './requests.ts';
import { callOf, remainingLimits } from './quotas.ts';
import { failureOf } from './errors.ts';

export interface ReadAnswer {
  /** When the request was sent, in monotonic ms. */
  readonly startedAt: number;
  readonly answer: ArmAnswer;
}

export interface ReadItems {
  /** When the first page was requested, in monotonic ms. */
  readonly startedAt: number;
  readonly items: readonly Json[];
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
    this.#learn(request, output);
    return { startedAt, answer: output };
  }

  /** Reads a list to its end. Converts each item as it comes, so that no page is kept. Rejects with a CloudError. */
  async readList<T>(
    request: ArmRequest,
    convert: (item: Json) => T | undefined,
    context: CallContext,
  ): Promise<{ readonly startedAt: number; readonly items: readonly T[] }> {
    const met = new Set<string>();
    const items: T[] = [];
    let first: number | undefined;
    let next: ArmRequest | undefined = request;
    while (next !== undefined) {
      const { startedAt, answer }: ReadAnswer = await this.read(next, context);
      first ??= startedAt;
      const page = list(answer.body, 'value');
      if (page === undefined) throw unreadable(request, 'value is missing');
      for (const item of page) {
        const converted = convert(item);
        if (converted !== undefined) items.push(converted);
      }
      const link = text(answer.body, 'nextLink');
      if (link !== undefined && met.has(link)) throw endless(request);
      if (link !== undefined) met.add(link);
      next = link === undefined ? undefined : following(request, link);
    }
    return { startedAt: first ?? 0, items };
  }

  /** Sends an admitted change once. */
  async write(request: ArmRequest, context: CallContext): Promise<WriteResult<ArmAnswer>> {
    const result = await this.#gate.write(callOf(request), context, (sending) =>
      this.#api.send(request, sending),
    );
    if (result.kind === 'answered') this.#learn(request, result.output);
    return result;
  }

  /** Waits until the limits admit these requests, taken together. The returned function refunds those not sent. */
  admit(requests: readonly ArmRequest[], context: CallContext): Promise<() => void> {
    return this.#gate.admit(requests.map(callOf), context);
  }

  #learn(request: ArmRequest, { remaining }: ArmAnswer): void {
    for (const { limit, count } of remainingLimits(request, remaining)) this.#gate.remaining(limit, count);
  }
}

/** The failure of an operation that the cloud accepted, or that ends before it is sent. */
export function failure(request: Pick<ArmRequest, 'operation'>, code: string, message: string): CloudFailure {
  return failureOf({ name: request.operation }, new CallError({ result: 'refused', code, message }));
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(request: Pick<ArmRequest, 'operation'>, problem: string): CloudError {
  return new CloudError(failure(request, 'UnreadableAnswer', `cannot understand the answer: ${problem}`));
}

/** Each page is valid, but the listing never ends. Reading on costs calls, so it backs off like any other failure. */
function endless(request: ArmRequest): CloudError {
  return new CloudError(failure(request, 'EndlessPages', 'the same page came twice'));
}
