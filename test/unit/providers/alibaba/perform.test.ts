import { describe, expect, test } from '@jest/globals';
import { InterfaceWaits } from '../../../../src/providers/alibaba/interface-waits.ts';
import { perform } from '../../../../src/providers/alibaba/perform.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../../../src/providers/alibaba/rpc-api.ts';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import type { Outcome } from '../../../../src/providers/contract/operations.ts';
import { CallError, type Sending } from '../../../../src/providers/gate/cloud-call.ts';
import type { SettledChange } from '../../../../src/providers/gate/settled-change.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { clientOn } from './client-on.ts';

const lost = new CallError({ result: 'noAnswer', code: 'Timeout', message: 'no answer' });
const given = {
  assignedPrivateIpAddressesSet: { privateIpSet: { privateIpAddress: ['10.0.0.7', '10.0.0.8'] } },
};

function refused(code: string): CallError {
  return new CallError({ result: 'refused', code, message: 'refused', status: 400 });
}

/** The outcome of an assignment of two addresses that gets these answers, one after the other, and the last one again. */
async function outcomeOf(answers: readonly (CallError | typeof given)[]): Promise<Outcome | undefined> {
  const clock = new VirtualClock();
  const left = [...answers];
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Sending) => {
      onSend();
      const answer = left.length > 1 ? left.shift() : left[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as RpcOutput<A>);
    },
  };
  const client = clientOn(clock, api);
  const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };
  const waits = new InterfaceWaits({ client, clock, limits: new Map(), consistencyWindow: 30_000 });
  const call = { client, waits, clock, context, consistencyWindow: 30_000 };
  const ids = { instanceId: 'i-1', interfaceId: 'eni-1' };
  let outcome: Outcome | undefined;
  void perform(call, { kind: 'allocateIPs', ...ids, count: 2, operationId: 'token' }).then((end) => {
    outcome = end;
  });
  await clock.advance(60_000);
  expect(left).toHaveLength(1);
  return outcome;
}

describe('an assignment', () => {
  test.each<[string, Outcome['kind'], readonly (CallError | typeof given)[]]>([
    ['is done when a repeated request is answered', 'done', [lost, given]],
    ['is refused when the first request is', 'failed', [refused('Throttling.User')]],
    [
      'stays unclear when the request is refused that repeats a lost one',
      'ambiguous',
      [lost, refused('Throttling.User')],
    ],
    [
      'stays unclear when the request is denied that repeats a lost one',
      'ambiguous',
      [lost, refused('Forbidden.RAM')],
    ],
    [
      'is done when an answer comes after a lost and a refused one',
      'done',
      [lost, refused('Throttling.User'), given],
    ],
    [
      'has failed when the interface is gone after a lost answer',
      'failed',
      [lost, refused('InvalidEniId.NotFound')],
    ],
  ])('%s', async (_, kind, answers) => {
    expect((await outcomeOf(answers))?.kind).toBe(kind);
  });
});

test('an attachment has an unclear end in the audit when Headwater shuts down before', async () => {
  const clock = new VirtualClock();
  const changes: SettledChange[] = [];
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Sending) => {
      onSend();
      return Promise.resolve({} as RpcOutput<A>);
    },
  };
  const client = clientOn(clock, api, { changed: (change) => changes.push(change) });
  const ending = new AbortController();
  const context: CallContext = { caller: { priority: 'normal' }, signal: ending.signal };
  const waits = new InterfaceWaits({ client, clock, limits: new Map(), consistencyWindow: 30_000 });
  const call = { client, waits, clock, context, consistencyWindow: 30_000 };
  const ids = { instanceId: 'i-1', interfaceId: 'eni-1' };
  const attached = perform(call, { kind: 'attachInterface', ...ids, deviceIndex: 1 });
  await clock.runUntil(() => changes.length > 0, 10_000);
  ending.abort(new Error('shut down'));

  await expect(attached).rejects.toThrow('shut down');
  expect(changes.map(({ end }) => end)).toMatchObject([
    'accepted',
    { kind: 'ambiguous', failure: { action: 'AttachNetworkInterface', code: 'Ended' } },
  ]);
});
