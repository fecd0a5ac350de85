// Calls Compute Engine through the gate: reads the interfaces of an instance, changes their alias IP ranges, and follows what
// the cloud goes on with after it accepted a change.
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CallContext } from '../contract/cloud.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import type { CallGate, Followed, WriteResult } from '../gate/call-gate.ts';
import type { CloudCall, Sending } from '../gate/cloud-call.ts';
import { type AliasInterface, interfaceIn, type AliasRange } from './alias-interface.ts';
import type { ComputeAction, ComputeRequest, ComputeSource } from './compute-api.ts';
import type { LimitSize, LimitSizes } from '../rate-limit/limit-key.ts';
import { type InstancePath, isOperationName } from './ids.ts';
import { textAt, valueAt } from '../../runtime/json.ts';
import { objectsIn } from './compute-answer.ts';

export type OperationReading =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done' }
  /** `code` and `message`: of its first error. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const aMinute: LimitSize = { kind: 'window', max: 1500, ms: 60_000 };

/** The rate quotas per project, in requests a minute (https://cloud.google.com/compute/api-quota). */
const quotas: Readonly<Record<ComputeAction, LimitSize>> = {
  'instances.get': aMinute,
  'instances.updateNetworkInterface': aMinute,
  'zoneOperations.get': aMinute,
};

/** A limit for each action, under its name. */
export const computeLimits: LimitSizes = new Map(Object.entries(quotas));

export class ComputeClient {
  readonly #api: ComputeSource;
  readonly #gate: CallGate;

  constructor(api: ComputeSource, gate: CallGate) {
    this.#api = api;
    this.#gate = gate;
  }

  /** The first interface of an instance. Rejects with a CloudError. */
  async readInterface(path: InstancePath, context: CallContext): Promise<AliasInterface> {
    const action = 'instances.get';
    const output = await this.#read(
      { action, method: 'GET', where: path, path: `instances/${path.name}` },
      context,
    );
    const found = interfaceIn(output, path);
    if ('problem' in found) throw unreadable(action, found.problem);
    return found;
  }

  /** Replaces the alias IP ranges that `shown` has. The answer is the name of an operation. Rejects only with the signal's reason. */
  async setRanges(
    path: InstancePath,
    shown: Pick<AliasInterface, 'fingerprint' | 'nic'>,
    ranges: readonly AliasRange[],
    context: CallContext,
  ): Promise<WriteResult<string>> {
    const action = 'instances.updateNetworkInterface';
    const request: ComputeRequest = {
      action,
      method: 'PATCH',
      where: path,
      path: `instances/${path.name}/updateNetworkInterface`,
      query: { networkInterface: shown.nic },
      body: { fingerprint: shown.fingerprint, aliasIpRanges: ranges },
    };
    const call = callOf(action, 'adds');
    await this.#gate.admit([call], context);
    const nameIn = (output: object): string | undefined => textAt(output, 'name') || undefined;
    const send = (sending: Sending): Promise<object> => this.#api.send(request, sending);
    const result = await this.#gate.write(call, context, send, { requestId: nameIn });
    if (result.kind !== 'answered') return result;
    const name = nameIn(result.output);
    if (isOperationName(name)) return { kind: 'answered', output: name };
    return { kind: 'ambiguous', failure: unreadable(action, 'the answer names no operation').failure };
  }

  /** Rejects with a CloudError. */
  async readOperation(
    where: Pick<InstancePath, 'project' | 'zone'>,
    name: string,
    context: CallContext,
  ): Promise<OperationReading> {
    const action = 'zoneOperations.get';
    const output = await this.#read({ action, method: 'GET', where, path: `operations/${name}` }, context);
    const [status, error] = [valueAt(output, 'status'), valueAt(output, 'error')];
    if (valueAt(output, 'name') !== name) throw unreadable(action, 'the answer shows another operation');
    if (status === 'PENDING' || status === 'RUNNING') return { kind: 'pending' };
    if (status !== 'DONE') throw unreadable(action, 'the operation has an unknown status');
    if (error === undefined) return { kind: 'done' };
    const [first] = objectsIn(valueAt(error, 'errors')) ?? [];
    const code = textAt(first, 'code') || 'UNKNOWN';
    const message = textAt(first, 'message') || 'it says nothing more';
    return { kind: 'failed', ...sanitizedAnswer({ code, requestId: undefined }, message) };
  }

  /** Reports how a change ends that was accepted. */
  reportEnd<T>(context: CallContext, end: Followed<T>): Promise<T> {
    return this.#gate.reportEnd(context, 'instances.updateNetworkInterface', end);
  }

  async #read(request: ComputeRequest, context: CallContext): Promise<object> {
    const call = callOf(request.action, 'reads');
    const { output } = await this.#gate.read(call, context, (sending) => this.#api.send(request, sending));
    return output;
  }
}

function callOf(name: ComputeAction, effect: CloudCall['effect']): CloudCall {
  return { name, effect, limits: [{ name }] };
}
