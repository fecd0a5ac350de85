import { expect, test } from '@jest/globals';
import { InterfaceWaits } from '../../../../src/providers/alibaba/interface-waits.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../../../src/providers/alibaba/rpc-api.ts';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { CallError, type Sending } from '../../../../src/providers/gate/cloud-call.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { clientOn } from './client-on.ts';

type Reads = RpcOutput<'DescribeNetworkInterfaces'>;

const none: Reads = { networkInterfaceSets: { networkInterfaceSet: [] } };

function showing(status: string): Reads {
  const item = { networkInterfaceId: 'eni-1', status, instanceId: 'i-1' };
  return { networkInterfaceSets: { networkInterfaceSet: [item] } };
}

type Wait = (waits: InterfaceWaits, context: CallContext) => Promise<unknown>;

interface End {
  /** In ms. */
  readonly at: number;
  readonly result: unknown;
}

/** How a wait for eni-1 ends; undefined within two minutes less a second. */
async function endOf(wait: Wait, read: (at: number) => Reads | Error): Promise<End | undefined> {
  const clock = new VirtualClock();
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Sending) => {
      onSend();
      const answer = read(clock.monotonic());
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as RpcOutput<A>);
    },
  };
  const client = clientOn(clock, api);
  let end: End | undefined;
  const { signal } = new AbortController();
  const waits = new InterfaceWaits({ client, clock, limits: new Map(), consistencyWindow: 30_000 });
  void wait(waits, { caller: { priority: 'normal' }, signal }).then((result) => {
    end = { at: clock.monotonic(), result };
  });
  await clock.advance(119_000);
  return end;
}

const refused = new CallError({ result: 'refused', code: 'ServiceUnavailable', message: 'later' });

test.each<[string, (at: number) => Reads | Error, number, number]>([
  ['at the first read that shows it created', () => showing('Available'), 400, 400],
  ['once it is no longer being created', (at) => showing(at < 3000 ? 'Creating' : 'Available'), 3000, 4000],
  ['after ten seconds in which reads do not show it', () => none, 10_000, 12_000],
  ['no sooner for reads that fail', (at) => (at < 60_000 ? refused : showing('Available')), 60_000, 70_000],
])('the wait for a new interface ends %s', async (_, read, from, to) => {
  const end = await endOf((waits, context) => waits.created('eni-1', context), read);

  expect(end?.at).toBeGreaterThanOrEqual(from);
  expect(end?.at).toBeLessThanOrEqual(to);
});

/** What a read shows at one of these times, in ms, and until the next one. */
function statesAt(states: Readonly<Record<number, string>>): (at: number) => Reads {
  return (at) => showing(Object.entries(states).findLast(([since]) => Number(since) <= at)?.[1] ?? '');
}

test.each<[string, Readonly<Record<number, string>>, unknown, number]>([
  ['at the first read that shows it in use', { 0: 'Attaching', 5000: 'InUse' }, 'InUse', 5000],
  ['once a read that shows no earlier state shows it available', { 0: 'Available' }, 'fellBack', 30_000],
  [
    'not by reads that show how an earlier attachment fell back',
    { 0: 'Attaching', 4000: 'Available', 12_000: 'InUse' },
    'InUse',
    12_000,
  ],
])('the wait for an attachment ends %s', async (_, states, result, from) => {
  const operation = { interfaceId: 'eni-1', instanceId: 'i-1' };
  const ended = async (waits: InterfaceWaits, context: CallContext): Promise<unknown> => {
    const end = await waits.attached(operation, context);
    return typeof end === 'string' ? end : end.item.status;
  };

  const end = await endOf(ended, statesAt(states));

  expect(end?.result).toBe(result);
  expect(end?.at).toBeGreaterThanOrEqual(from);
  expect(end?.at).toBeLessThanOrEqual(from * 1.2);
});
