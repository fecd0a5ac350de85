import { describe, expect, test } from '@jest/globals';
import { CloudError } from '../../../../src/providers/contract/cloud-failure.ts';
import type { PublicAddress } from '../../../../src/providers/contract/network-interface.ts';
import {
  type EndOfClaim,
  type PublicAddressClaim,
  PublicAddressPool,
} from '../../../../src/providers/catalog/public-address-pool.ts';
import type { Caller, Priority } from '../../../../src/providers/contract/priority.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../scripted-implementation.ts';

const tags = { pool: 'a' };
const never = new AbortController().signal;
const consistencyWindow = 30_000;
const housekeeping: Caller = { priority: 'housekeeping' };

function address(index: number, interfaceId?: string): PublicAddress {
  const id = `eipalloc-${index}`;
  return { id, address: `198.18.0.${index}`, tags, taken: interfaceId !== undefined, interfaceId };
}

interface Rig {
  readonly clock: VirtualClock;
  readonly pool: PublicAddressPool;
  /** When each listing was requested. */
  readonly listed: number[];
  /** What listings show from now on; `fail`: they fail. */
  shown: readonly PublicAddress[] | 'fail';
  readonly claim: (
    interfaceId: string,
    signal?: AbortSignal,
    priority?: Priority,
  ) => Promise<PublicAddressClaim>;
  /** How urgent the listing in flight is now. */
  readonly urgency: () => Priority | undefined;
  /** When those who send it were told that it has become more urgent. */
  readonly reconsidered: readonly number[];
}

function poolRig(shown: Rig['shown'], duration = 0): Rig {
  const clock = new VirtualClock();
  const listed: number[] = [];
  const reconsidered: number[] = [];
  let caller: Caller | undefined;
  const implementation = scriptedImplementation({
    reconsider: () => {
      reconsidered.push(clock.monotonic());
    },
    readPublicAddresses: async (_, context) => {
      const { signal } = context;
      ({ caller } = context);
      const startedAt = clock.monotonic();
      listed.push(startedAt);
      const addresses = rig.shown;
      await sleep(clock, duration, signal);
      if (addresses !== 'fail') return { startedAt, addresses };
      const failure = { kind: 'notAuthorized', action: 'Describe', code: 'No', message: 'no' } as const;
      throw new CloudError({ ...failure, requestId: undefined });
    },
  });
  const pool = new PublicAddressPool(
    { implementation, clock, random: new Random('pool') },
    consistencyWindow,
  );
  const rig: Rig = {
    clock,
    pool,
    listed,
    shown,
    urgency: () => caller?.priority,
    reconsidered,
    claim: async (interfaceId, signal = never, priority = 'housekeeping') => {
      const claiming = pool.claim({ tags, interfaceId, caller: { priority } }, signal);
      await clock.advance(duration);
      return claiming;
    },
  };
  return rig;
}

function inShort(claim: PublicAddressClaim): string {
  return 'address' in claim ? `${claim.kind} ${claim.address.id}` : claim.kind;
}

function settle(claim: PublicAddressClaim, as: EndOfClaim): void {
  if (claim.kind === 'claimed') claim.settle(as);
}

describe('a pool of public addresses', () => {
  test('hands out each address of one listing once', async () => {
    const { claim, listed } = poolRig([address(1), address(2, 'eni-9'), address(3)], 100);

    const claims = await Promise.all(['eni-1', 'eni-2', 'eni-3'].map((id) => claim(id)));

    expect(claims.map(inShort)).toEqual(['claimed eipalloc-1', 'claimed eipalloc-3', 'noneFree']);
    expect(listed).toEqual([0]);
  });

  test('is read as urgently as the most urgent of those who wait for it', async () => {
    const { claim, urgency, reconsidered } = poolRig([address(1), address(2)], 100);
    const quiet = claim('eni-1');
    const before = [urgency(), reconsidered.length];
    const urgent = claim('eni-2', never, 'high');

    expect([before, [urgency(), reconsidered.length]]).toEqual([
      ['housekeeping', 0],
      ['high', 1],
    ]);
    expect([await quiet, await urgent].map(inShort)).toEqual(['claimed eipalloc-1', 'claimed eipalloc-2']);
  });

  test('hands out addresses that were returned or are free again', async () => {
    const rig = poolRig([address(1), address(2)]);
    settle(await rig.claim('eni-1'), 'free');
    const again = await rig.claim('eni-1');
    settle(again, 'taken');

    const next = await rig.claim('eni-2');

    expect(inShort(again)).toBe('claimed eipalloc-1');
    expect(inShort(next)).toBe('claimed eipalloc-2');
  });

  test('trusts a listing about addresses that it handed out one consistency window ago or earlier', async () => {
    const rig = poolRig([address(1)]);
    const first = await rig.claim('eni-1');
    await rig.clock.advance(10_000);
    settle(first, 'taken');

    const claims: string[] = [];
    for (let asked = 0; asked < 8; asked++) {
      await rig.clock.advance(10_000);
      claims.push(`${rig.clock.monotonic() / 1000} ${inShort(await rig.claim('eni-2'))}`);
    }

    const early = rig.listed.filter((at) => at < 40_000);
    expect(early.length).toBeGreaterThan(1);
    expect(claims.filter((item) => item.includes('claimed'))).toHaveLength(1);
    expect(claims.slice(0, 3)).toEqual(['20 noneFree', '30 noneFree', '40 noneFree']);
  });

  test('hands out nothing of a source that has none left, until a later listing shows some', async () => {
    const of = (source: string) => (item: PublicAddress) => ({ ...item, source });
    const rig = poolRig([...[1, 2, 3].map((each) => address(each)).map(of('a')), of('b')(address(4))]);
    settle(await rig.claim('eni-1'), 'refused');

    const claims: string[] = [];
    for (let asked = 0; asked < 6; asked++) {
      claims.push(inShort(await rig.claim('eni-1')));
      await rig.clock.advance(10_000);
    }

    expect(claims.slice(0, 3)).toEqual(['claimed eipalloc-4', 'noneFree', 'noneFree']);
    expect(claims.slice(3)).toContain('claimed eipalloc-1');
  });

  test('returns the address that the interface already has', async () => {
    const { claim } = poolRig([address(1), address(2, 'eni-1')]);

    expect(inShort(await claim('eni-1'))).toBe('held eipalloc-2');
  });

  test.each([
    { what: 'nothing matches', shown: [], kind: 'noneMatches' },
    { what: 'nothing is free', shown: [address(1, 'others')], kind: 'noneFree' },
    { what: 'the cloud refuses', shown: 'fail', kind: 'failed' },
  ] as const)('reads more and more rarely while $what, whichever node asks', async ({ shown, kind }) => {
    const rig = poolRig(shown);
    const kinds = new Set<string>();

    for (let asked = 0; asked < 720; asked++) {
      kinds.add((await rig.claim(`eni-${asked}`)).kind);
      await rig.clock.advance(10_000);
    }

    expect([...kinds]).toEqual([kind]);
    const pauses = rig.listed.slice(1).map((at, index) => at - (rig.listed[index] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(40_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(610_000);
    expect(rig.listed.length).toBeLessThan(25);
    expect(rig.listed.length).toBeGreaterThan(12);
  });

  test('says when it is worth asking again', async () => {
    const rig = poolRig([]);
    const { retryAt } = (await rig.claim('eni-1')) as PublicAddressClaim & { kind: 'noneMatches' };
    rig.shown = [address(1)];

    await rig.clock.advance(retryAt - 1);
    const before = await rig.claim('eni-1');
    await rig.clock.advance(2);
    const after = await rig.claim('eni-1');

    expect([before.kind, after.kind]).toEqual(['noneMatches', 'claimed']);
  });

  test('hands nothing out of an old listing', async () => {
    const rig = poolRig([address(1), address(2)]);
    await rig.claim('eni-1');
    rig.shown = [address(1), address(2, 'eni-9')];

    await rig.clock.advance(60_001);

    expect((await rig.claim('eni-2')).kind).toBe('noneFree');
    expect(rig.listed).toHaveLength(2);
  });

  test('releases an aborted caller, and keeps the listing for others', async () => {
    const rig = poolRig([address(1)], 100);
    const ending = new AbortController();

    const ended = rig.pool.claim({ tags, interfaceId: 'eni-1', caller: housekeeping }, ending.signal);
    const other = rig.pool.claim({ tags, interfaceId: 'eni-2', caller: housekeeping }, never);
    ending.abort(new Error('over'));
    await expect(ended).rejects.toThrow('over');
    await rig.clock.advance(100);

    expect(inShort(await other)).toBe('claimed eipalloc-1');
  });

  test('ends the listing in flight when it is stopped', async () => {
    const rig = poolRig([address(1)], 100_000);
    const waiting = rig.pool.claim({ tags, interfaceId: 'eni-1', caller: housekeeping }, never);

    const stopped = rig.pool.stop();

    await expect(waiting).rejects.toThrow('aborted');
    await stopped;
    expect(rig.clock.monotonic()).toBe(0);
  });
});
