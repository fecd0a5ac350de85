import { expect, test } from '@jest/globals';
import { InterfaceWaits } from '../../../../src/providers/alibaba/interface-waits.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../../../src/providers/alibaba/rpc-api.ts';
import { CallError, type Sending } from '../../../../src/providers/gate/cloud-call.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';
import { clientOn } from './client-on.ts';

type Reads = RpcOutput<'DescribeNetworkInterfaces'>;

const none: Reads = { networkInterfaceSets: { networkInterfaceSet: [] } };

function showing(status: string): Reads {
  return { networkInterfaceSets: { networkInterfaceSet: [{ networkInterfaceId: 'eni-1', status }] } };
}

/** When the wait for the creation of eni-1 ends, in ms; undefined within two minutes less a second. */
async function endOfCreation(read: (at: number) => Reads | Error): Promise<number | undefined> {
  const clock = new VirtualClock();
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Sending) => {
      onSend();
      const answer = read(clock.monotonic());
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as RpcOutput<A>);
    },
  };
  const client = clientOn(clock, api);
  let end: number | undefined;
  const { signal } = new AbortController();
  const waits = new InterfaceWaits(client, clock, new Map());
  void waits.created('eni-1', { priority: () => 'normal', signal }).then(() => {
    end = clock.monotonic();
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
  const end = await endOfCreation(read);

  expect(end).toBeGreaterThanOrEqual(from);
  expect(end).toBeLessThanOrEqual(to);
});
