import { describe, expect, test } from '@jest/globals';
import type { InstanceLimits, UnreadableLimits } from '../../../../src/providers/contract/facts.ts';
import { CloudError } from '../../../../src/providers/contract/cloud-failure.ts';
import { InstanceTypeLimits } from '../../../../src/providers/catalog/instance-type-limits.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../scripted-implementation.ts';

const large = { interfaces: 3, addressesPerInterface: 10, prefixes: true };

interface Rig {
  readonly clock: VirtualClock;
  readonly limits: InstanceTypeLimits;
  readonly cloud: Map<string, InstanceLimits | UnreadableLimits>;
  readonly asked: string[];
  readonly learned: string[];
  readonly failures: string[];
  /** The number of next reads that fail. */
  failing: number;
  /** Whether nodes of the types exist. */
  hasNodes: boolean;
}

function rig(): Rig {
  const clock = new VirtualClock();
  const cloud = new Map<string, InstanceLimits | UnreadableLimits>([['m5.large', large]]);
  const asked: string[] = [];
  const learned: string[] = [];
  const failures: string[] = [];
  const made: Rig = {
    clock,
    cloud,
    asked,
    learned,
    failures,
    failing: 0,
    hasNodes: true,
    limits: new InstanceTypeLimits(
      {
        implementation: scriptedImplementation({
          maxTypesPerRead: 2,
          readLimits: async (types) => {
            asked.push(types.join());
            await sleep(clock, 20, new AbortController().signal);
            if (made.failing-- > 0) throw new Error('down');
            return new Map([...cloud].filter(([type]) => types.includes(type)));
          },
        }),
        clock,
        random: new Random('limits'),
      },
      (event) => {
        const types = event.instanceTypes;
        if (event.kind === 'failed') {
          failures.push(`${(event.error as Error).message}:${types.join()}`);
          return;
        }
        learned.push(types.join());
        // As nodes of these types do.
        if (made.hasNodes) for (const type of types) made.limits.get(type);
      },
    ),
  };
  return made;
}

describe('limits of instance types', () => {
  test('are read once, when they are first needed', async () => {
    const { clock, limits, asked, learned } = rig();

    const first = [limits.get('m5.large'), limits.get('m5.large')];
    await clock.advance(60);
    first.push(limits.get('m5.large'));
    await clock.advance(100);
    const then = limits.get('m5.large');
    await clock.advance(10_000_000);

    expect(first).toEqual(['unread', 'unread', 'unread']);
    expect(then).toEqual(large);
    expect(limits.get('m5.large')).toEqual(large);
    expect([asked, learned]).toEqual([['m5.large'], ['m5.large']]);
  });

  test('share reads when they are of several types', async () => {
    const { clock, limits, asked } = rig();

    for (const type of ['m5.large', 'a', 'b']) limits.get(type);
    await clock.advance(1000);

    expect(asked).toEqual(['m5.large,a', 'b']);
  });

  test('stay unread until two answers, the second soon after the first, lack the type', async () => {
    const { clock, limits, asked } = rig();
    limits.get('m99.large');
    await clock.advance(1000);
    const first = limits.get('m99.large');

    await clock.advance(5000);

    expect(first).toBe('unread');
    expect(limits.get('m99.large')).toBe('unknown');
    expect(asked).toEqual(['m99.large', 'm99.large']);
  });

  test('are known soon after one empty answer', async () => {
    const { clock, cloud, limits } = rig();
    cloud.clear();
    limits.get('m5.large');
    await clock.advance(1000);

    cloud.set('m5.large', large);
    await clock.advance(5000);

    expect(limits.get('m5.large')).toEqual(large);
  });

  test('are requested again each minute for an unknown type, because new types appear', async () => {
    const { clock, cloud, limits, asked, learned } = rig();
    limits.get('m99.large');
    await clock.advance(10_000);
    const before = { known: limits.get('m99.large'), asked: asked.length };

    cloud.set('m99.large', large);
    await clock.advance(61_000);

    expect(before).toEqual({ known: 'unknown', asked: 2 });
    expect(limits.get('m99.large')).toEqual(large);
    expect(asked).toHaveLength(3);
    expect(learned.length).toBeGreaterThanOrEqual(3);
  });

  test('are not requested again once no node has the type', async () => {
    const clock = new VirtualClock();
    const asked: string[] = [];
    const limits = new InstanceTypeLimits(
      {
        implementation: scriptedImplementation({
          maxTypesPerRead: 2,
          readLimits: async (types) => {
            asked.push(types.join());
            await sleep(clock, 20, new AbortController().signal);
            return Promise.resolve(new Map());
          },
        }),
        clock,
        random: new Random('limits'),
      },
      () => undefined,
    );
    limits.get('m99.large');

    await clock.advance(1_000_000);

    expect(asked).toEqual(['m99.large']);
  });

  test('are forgotten when no node has had the type for long, because agents can name any number of types', async () => {
    const made = rig();
    const { clock, limits } = made;
    limits.get('m9.made-up');
    await clock.advance(10_000);
    const known = limits.get('m9.made-up');

    made.hasNodes = false;
    await clock.advance(200_000);
    limits.get('m9.other');
    await clock.advance(1000);

    expect(known).toBe('unknown');
    expect(limits.get('m9.made-up')).toBe('unread');
  });

  test('are not forgotten while a node has the type', async () => {
    const { clock, limits } = rig();
    limits.get('m9.large');
    await clock.advance(200_000);
    limits.get('m9.other');
    await clock.advance(1000);

    expect(limits.get('m9.large')).toBe('unknown');
  });

  test('are named as unreadable, and are requested again, when they cannot be read', async () => {
    const { clock, cloud, limits } = rig();
    cloud.set('m5.large', { problem: 'Ipv4AddressesPerInterface is -1' });
    limits.get('m5.large');
    await clock.advance(10_000);
    const spoilt = limits.get('m5.large');

    cloud.set('m5.large', large);
    await clock.advance(61_000);

    expect(spoilt).toEqual({ problem: 'Ipv4AddressesPerInterface is -1' });
    expect(limits.get('m5.large')).toEqual(large);
  });

  test('stay unread while they cannot be read, and the read is repeated', async () => {
    const made = rig();
    made.failing = 1;

    made.limits.get('m5.large');
    await made.clock.advance(100);
    const between = made.limits.get('m5.large');
    await made.clock.advance(5000);

    expect(between).toBe('unread');
    expect(made.limits.get('m5.large')).toEqual(large);
    expect(made.failures).toEqual(['down:m5.large']);
  });

  test('are not requested after a stop', async () => {
    const { clock, limits, asked } = rig();

    await limits.stop();
    limits.get('m5.large');
    await clock.advance(1000);

    expect(asked).toEqual([]);
  });
});

test('limits that may not be read are reported once and requested again', async () => {
  const clock = new VirtualClock();
  const failure = {
    kind: 'notAuthorized',
    action: 'a',
    code: 'c',
    message: 'm',
    requestId: undefined,
    permission: 'p',
  } as const;
  const news: string[] = [];
  let isDenied = true;
  const limits = new InstanceTypeLimits(
    {
      implementation: scriptedImplementation({
        maxTypesPerRead: 2,
        readLimits: () =>
          isDenied
            ? Promise.reject(new CloudError(failure))
            : Promise.resolve(new Map([['m5.large', large]])),
      }),
      clock,
      random: new Random('limits'),
    },
    (event) => event.kind === 'news' && news.push(event.instanceTypes.join()),
  );

  const before = limits.get('m5.large');
  await clock.advance(300_000);
  const during = [limits.get('m5.large'), ...news];
  isDenied = false;
  await clock.advance(60_000);

  expect(before).toBe('unread');
  expect(during).toEqual([{ denied: failure }, 'm5.large']);
  expect(limits.get('m5.large')).toEqual(large);
  expect(news).toHaveLength(2);
});
