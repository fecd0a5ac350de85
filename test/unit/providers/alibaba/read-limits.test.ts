import { describe, expect, test } from '@jest/globals';
import { readLimits } from '../../../../src/providers/alibaba/read-limits.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../../../src/providers/alibaba/rpc-api.ts';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { clientOn } from './client-on.ts';

const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };
const type = 'ecs.g7.large';

async function limitsOf(eniQuantity: unknown, eniPrivateIpAddressQuantity: unknown): Promise<unknown> {
  const shown = { instanceTypeId: type, eniQuantity, eniPrivateIpAddressQuantity };
  const answer = { instanceTypes: { instanceType: [shown] } };
  const api: RpcApi = {
    send: <A extends RpcAction>(_: A, __: RpcInput<A>, { onSend }: Parameters<RpcApi['send']>[2]) => {
      onSend();
      return Promise.resolve(answer as RpcOutput<A>);
    },
  };
  const read = await readLimits(clientOn(new VirtualClock(), api), [type], context);
  return read.get(type);
}

describe('the limits of an instance type', () => {
  test.each([
    [3, 10, 3],
    [50, 10, 50],
    // Agents know 49 interfaces besides the primary one.
    [51, 10, 50],
    [256, 10, 50],
  ])(
    'are those that ECS shows, as far as agents know indexes: %d and %d',
    async (shown, addresses, interfaces) => {
      expect(await limitsOf(shown, addresses)).toEqual({
        interfaces,
        addressesPerInterface: addresses,
        prefixes: false,
      });
    },
  );

  test.each([
    [0, 10, 'EniQuantity is 0'],
    [257, 10, 'EniQuantity is 257'],
    [Infinity, 10, 'EniQuantity is Infinity'],
    [3, -1, 'EniPrivateIpAddressQuantity is -1'],
    [3, 2.5, 'EniPrivateIpAddressQuantity is 2.5'],
    [3, undefined, 'EniPrivateIpAddressQuantity is undefined'],
  ])('are unreadable if they are none: %p and %p', async (interfaces, addresses, problem) => {
    expect(await limitsOf(interfaces, addresses)).toEqual({ problem });
  });
});
