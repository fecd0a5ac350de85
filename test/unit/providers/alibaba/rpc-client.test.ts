import { describe, expect, test } from '@jest/globals';
import type { RpcApi, RpcAction, RpcInput, RpcOutput } from '../../../../src/providers/alibaba/rpc-api.ts';
import type { RpcClient } from '../../../../src/providers/alibaba/rpc-client.ts';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { clientOn } from './client-on.ts';

const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };

interface Asked {
  calls: number;
}

/** `answer`: to the request of that number, from 1. */
function clientOf(answer: (call: number) => object): { readonly client: RpcClient; readonly asked: Asked } {
  const clock = new VirtualClock();
  const asked: Asked = { calls: 0 };
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Parameters<RpcApi['send']>[2]) => {
      onSend();
      return Promise.resolve(answer(++asked.calls) as RpcOutput<A>);
    },
  };
  return { client: clientOn(clock, api), asked };
}

const sets = { networkInterfaceSets: { networkInterfaceSet: [] } };

async function walk(client: RpcClient): Promise<number> {
  let pages = 0;
  for await (const _ of client.pages('DescribeNetworkInterfaces', { vpcId: 'vpc-1' }, context)) pages++;
  return pages;
}

function numbered(client: RpcClient): Promise<{ readonly items: readonly unknown[] }> {
  return client.numbered('DescribeVSwitches', { vpcId: 'vpc-1' }, context);
}

const page = (count: number, totalCount: number): object => ({
  vSwitches: { vSwitch: Array.from({ length: count }, () => ({ vSwitchId: 'vsw-1' })) },
  totalCount,
});

describe('a listing with page tokens', () => {
  test('ends with the page that has none', async () => {
    const { client } = clientOf((call) => ({ ...sets, nextToken: call < 3 ? `t${call}` : '' }));

    expect(await walk(client)).toBe(3);
  });

  test('that repeats a token fails', async () => {
    const { client, asked } = clientOf(() => ({ ...sets, nextToken: 'same' }));

    await expect(walk(client)).rejects.toThrow('the same page came twice');
    expect(asked.calls).toBe(2);
  });

  test('that has a new token for ever fails', async () => {
    const { client } = clientOf((call) => ({ ...sets, nextToken: `t${call}` }));

    await expect(walk(client)).rejects.toThrow('it has more than 2000 pages');
  });
});

describe('a listing with numbered pages', () => {
  test('ends when all are there, however many a page has', async () => {
    const { client } = clientOf((call) => page(call === 1 ? 50 : 5, 60));

    expect((await numbered(client)).items).toHaveLength(60);
  });

  test('that shows the first page for ever fails', async () => {
    const { client } = clientOf(() => page(1, 1e9));

    await expect(numbered(client)).rejects.toThrow('it has more than 2000 pages');
  });

  test('ends with an empty page that stays empty, although the answer counts more', async () => {
    const { client, asked } = clientOf((call) => (call === 1 ? page(50, 60) : page(0, 60)));

    expect((await numbered(client)).items).toHaveLength(50);
    expect(asked.calls).toBe(3);
  });

  test('goes on after a page that was empty once', async () => {
    const { client } = clientOf((call) => (call === 2 ? page(0, 60) : page(call === 1 ? 50 : 10, 60)));

    expect((await numbered(client)).items).toHaveLength(60);
  });
});
