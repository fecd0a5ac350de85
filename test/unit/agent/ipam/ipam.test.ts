import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { families } from '../../../../src/blocks/set/cidr.ts';
import { type AttachmentName, Holdings } from '../../../../src/agent/ipam/holdings.ts';
import { AgentRig, blockOf, excluded } from '../agent-rig.ts';

const both = ['10.0.0.0/29', 'fd00::/125'];
const place = (ip: string) => ({ pool: 'default', ip });
const attachment = { network: 'n', container: 'c', interface: 'eth0', since: 0 };

describe('a demand', () => {
  test('gets an address of each family, in one entry of the record', () => {
    const rig = new AgentRig({ blocks: both });

    const outcome = rig.ipam.allocate({ owner: 'a/b', attachment });

    expect(outcome.kind).toBe('ok');
    expect(rig.changes).toHaveLength(1);
    expect(rig.changes[0]?.hold?.map(({ owner, pool }) => [owner, pool])).toEqual([
      ['a/b', 'default'],
      ['a/b', 'default'],
    ]);
    expect(rig.changes[0]?.attach?.places).toHaveLength(2);
  });

  test.each([
    ['a family is exhausted', { owner: 'x' }, 'exhausted'],
    ['the last family has a fixed address that is held', { owner: 'x', fixed: ['fd00::2'] }, 'inUse'],
    ['a fixed address is held', { owner: 'x', fixed: ['10.0.0.2'] }, 'inUse'],
    ['a fixed address is outside', { owner: 'x', fixed: ['10.0.0.9'] }, 'outOfRange'],
    ['a fixed address is the first of the block', { owner: 'x', fixed: ['10.0.0.0'] }, 'outOfRange'],
    ['a fixed address is the router', { owner: 'x', fixed: ['10.0.0.1'] }, 'excluded'],
    [
      'a fixed address is of no wanted family',
      { owner: 'x', families: ['ipv6'], fixed: ['10.0.0.3'] },
      'outOfRange',
    ],
    ['two fixed addresses are of one family', { owner: 'x', fixed: ['10.0.0.3', '10.0.0.4'] }, 'outOfRange'],
    ['there is no such pool', { owner: 'x', pool: 'blue' }, 'unknownPool'],
  ] as const)('gets nothing at all if %s', (_, demand, kind) => {
    const rig = new AgentRig({ blocks: both });
    rig.ipam.allocateIP('10.0.0.2', 'first');
    rig.ipam.allocateIP('fd00::2', 'first');
    if (kind === 'exhausted') for (const last of [3, 4, 5, 6]) rig.ipam.allocateIP(`10.0.0.${last}`, 'other');
    const before = rig.held;
    const taken = families.map((family) => rig.ipam.pools.allocator(family)?.taken);

    const outcome = rig.ipam.allocate(demand);

    expect(outcome).toMatchObject({ kind: 'failed', error: { kind } });
    expect(rig.held).toEqual(before);
    expect(families.map((family) => rig.ipam.pools.allocator(family)?.taken)).toEqual(taken);
  });

  test('gets nothing if the record cannot be written, and all once it can', () => {
    const rig = new AgentRig({ blocks: both });
    rig.recordProblem = 'the disk is full';

    for (let round = 0; round < 20; round++) {
      expect(rig.ipam.allocate({ owner: 'x' })).toMatchObject({
        error: { kind: 'notRecorded', message: 'the disk is full' },
      });
    }

    expect(rig.held).toEqual([]);
    rig.recordProblem = undefined;
    expect(rig.ipam.allocate({ owner: 'x' }).kind).toBe('ok');
  });

  test.each([
    [{ ipv4: undefined, ipv6: undefined }, [], undefined, 'poolNotReady', 'no family has a block yet'],
    [{ ipv4: true, ipv6: undefined }, [], undefined, 'poolNotReady', 'required IPv4 PodCIDR not available'],
    [
      { ipv4: undefined, ipv6: true },
      ['10.0.0.0/24'],
      undefined,
      'poolNotReady',
      'required IPv6 PodCIDR not available',
    ],
    [{ ipv4: false, ipv6: undefined }, both, ['ipv4'], 'familyDisabled', 'IPv4 allocation disabled'],
    [
      { ipv4: undefined, ipv6: undefined },
      ['10.0.0.0/24'],
      ['ipv6'],
      'familyDisabled',
      'IPv6 allocation disabled',
    ],
  ] as const)('says what is missing: %j with %j', (enabled, blocks, families, kind, message) => {
    const rig = new AgentRig({ enabled, blocks });

    const outcome = rig.ipam.allocate({ owner: 'x', ...(families !== undefined && { families }) });

    expect(outcome).toEqual({ kind: 'failed', error: { kind, message } });
  });
});

describe('an excluded address', () => {
  test('is never given out, and its excluder is named', () => {
    const rig = new AgentRig({ blocks: ['10.0.0.0/29'] });
    rig.ipam.pools.exclude(excluded('10.0.0.3'));

    const given = [1, 2, 3, 4].map(() => rig.ipam.allocate({ owner: 'x' }).kind);

    expect(given).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(rig.held).toEqual(['10.0.0.2', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
    expect(rig.ipam.allocateIP('10.0.0.3', 'x')).toMatchObject({
      error: { kind: 'excluded', message: 'IP 10.0.0.3 is excluded, owned by excluded' },
    });
    expect(rig.ipam.releaseIP(place('10.0.0.3'))).toMatchObject({ error: { kind: 'excluded' } });
  });

  test('that is held stays held, and is not given out after its release', () => {
    const rig = new AgentRig({ blocks: ['10.0.0.0/30'] });
    rig.ipam.allocate({ owner: 'x' });

    rig.ipam.pools.exclude(excluded('10.0.0.2'));

    expect(rig.held).toEqual(['10.0.0.2']);
    expect(rig.ipam.releaseIP(place('10.0.0.2')).kind).toBe('ok');
    expect(rig.ipam.allocate({ owner: 'y' })).toMatchObject({ error: { kind: 'exhausted' } });
  });
});

describe('a release', () => {
  test('frees the address, and does nothing if it is free already', () => {
    const rig = new AgentRig();
    rig.ipam.allocateIP('10.0.0.7', 'x');

    expect(rig.ipam.releaseIP(place('10.0.0.7')).kind).toBe('ok');
    expect(rig.ipam.releaseIP(place('10.0.0.7')).kind).toBe('ok');
    expect(rig.held).toEqual([]);
    expect(rig.ipam.allocateIP('10.0.0.7', 'y').kind).toBe('ok');
  });

  test('is refused while an attachment holds the address', () => {
    const rig = new AgentRig();
    rig.ipam.allocate({ owner: 'x', fixed: ['10.0.0.7'], attachment });

    expect(rig.ipam.releaseIP(place('10.0.0.7'))).toMatchObject({
      error: { kind: 'inUse', message: 'IP is in use by endpoint c' },
    });
  });

  test('that the record refuses leaves the address held', () => {
    const rig = new AgentRig();
    rig.ipam.allocate({ owner: 'x', fixed: ['10.0.0.7'], attachment });
    rig.recordProblem = 'the disk is full';

    expect(rig.ipam.detach([attachment])).toMatchObject({ error: { kind: 'notRecorded' } });
    expect(rig.held).toEqual(['10.0.0.7']);
    expect(rig.ipam.allocateIP('10.0.0.7', 'y')).toMatchObject({ error: { kind: 'inUse' } });
  });
});

describe('an expiration', () => {
  test('that is stopped leaves the pod that shows the address', () => {
    const rig = new AgentRig();
    const shown = { ...place('10.0.0.7'), owner: 'a/b', uid: 'u' };
    rig.ipam.rebuild([shown]);
    const timer = rig.ipam.startExpirationTimer(place('10.0.0.7'), 1000);

    rig.ipam.stopExpirationTimer(place('10.0.0.7'), timer.kind === 'ok' ? timer.value : '');

    expect(rig.ipam.holdings.at(place('10.0.0.7'))).toEqual(shown);
  });

  const minute = 60_000;

  test('releases an address of which nothing stops the timer', async () => {
    const rig = new AgentRig();
    rig.ipam.allocate({ owner: 'x', timeout: minute });

    await rig.clock.advance(minute - 1);
    expect(rig.held).toHaveLength(1);
    await rig.clock.advance(1);
    expect(rig.held).toEqual([]);
  });

  test('is tried again when the record refuses the release', async () => {
    const rig = new AgentRig();
    rig.ipam.allocate({ owner: 'x', timeout: minute });
    rig.recordProblem = 'the disk is full';
    await rig.clock.advance(minute);
    expect(rig.held).toHaveLength(1);
    expect(rig.events.at(-1)).toMatchObject({ kind: 'notExpired', problem: 'the disk is full' });

    rig.recordProblem = undefined;
    await rig.clock.advance(minute);
    expect(rig.held).toEqual([]);
  });

  test('is stopped by its UUID alone', async () => {
    const rig = new AgentRig();
    rig.ipam.allocateIP('10.0.0.7', 'x');
    const started = rig.ipam.startExpirationTimer(place('10.0.0.7'), minute);
    if (started.kind === 'failed') throw new Error(started.error.message);

    expect(rig.ipam.startExpirationTimer(place('10.0.0.7'), minute)).toMatchObject({
      error: { kind: 'timerExists' },
    });
    expect(rig.ipam.stopExpirationTimer(place('10.0.0.7'), 'other')).toMatchObject({
      error: { kind: 'uuidMismatch' },
    });
    expect(rig.ipam.stopExpirationTimer(place('10.0.0.7'), started.value).kind).toBe('ok');
    expect(rig.ipam.stopExpirationTimer(place('10.0.0.7'), started.value)).toMatchObject({
      error: { kind: 'timerMissing' },
    });
    expect(rig.ipam.startExpirationTimer(place('10.0.0.8'), minute)).toMatchObject({
      error: { kind: 'notAllocated' },
    });
    await rig.clock.advance(2 * minute);
    expect(rig.held).toEqual(['10.0.0.7']);
  });

  test.each([
    ['goes on where it was', 0, minute / 2],
    ['is never longer than it was, when the clock is set back', -3_600_000, minute],
    ['is over, when the clock was set ahead', 3_600_000, 0],
  ])('survives a restart: it %s', async (_, shift, left) => {
    const before = new AgentRig();
    before.ipam.allocate({ owner: 'x', timeout: minute });
    const holdings = new Holdings();
    for (const change of before.changes) holdings.apply(change);

    const rig = new AgentRig({ holdings, seed: 'other' });
    // The rig started its timers at time 0 of its own clock: start again as after half a minute.
    rig.ipam.stop();
    await rig.clock.advance(minute / 2);
    rig.clock.shiftWall(shift);
    rig.ipam.start();
    if (left > 0) {
      await rig.clock.advance(left - 1);
      expect(rig.held).toHaveLength(1);
    }
    await rig.clock.advance(1);
    expect(rig.held).toEqual([]);
  });
});

describe('another block', () => {
  test('gives out its own addresses, and what was held stays held and can be released', () => {
    const rig = new AgentRig({ blocks: ['10.0.0.0/29'] });
    rig.ipam.allocate({ owner: 'x', fixed: ['10.0.0.5'] });

    rig.ipam.serve(blockOf('10.0.1.0/29'));

    expect(rig.held).toEqual(['10.0.0.5']);
    expect(rig.ipam.allocate({ owner: 'y' })).toMatchObject({
      value: [{ ip: expect.stringMatching(/^10\.0\.1\./) }],
    });
    expect(rig.ipam.allocateIP('10.0.0.6', 'z')).toMatchObject({ error: { kind: 'outOfRange' } });
    expect(rig.ipam.releaseIP(place('10.0.0.5')).kind).toBe('ok');
    expect(rig.ipam.figures()).toEqual([
      {
        pool: 'default',
        family: 'ipv4',
        cidrs: ['10.0.1.0/29'],
        capacity: 5,
        used: 1,
        available: 4,
        needed: 0,
      },
    ]);
  });
});

describe('a smaller block', () => {
  test('gives out its own addresses alone, and what was held beyond it stays held', () => {
    const rig = new AgentRig({ blocks: ['10.0.0.0/24'] });
    rig.ipam.allocate({ owner: 'x', fixed: ['10.0.0.200'] });
    rig.ipam.allocate({ owner: 'y', fixed: ['10.0.0.3'] });

    rig.ipam.serve(blockOf('10.0.0.0/29'));

    expect(rig.held).toEqual(['10.0.0.200', '10.0.0.3']);
    const given = [1, 2, 3, 4].map((each) => rig.ipam.allocate({ owner: `p${each}` }));
    expect(given.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(rig.ipam.allocate({ owner: 'z' })).toMatchObject({ error: { kind: 'exhausted' } });
    expect(rig.ipam.releaseIP(place('10.0.0.200')).kind).toBe('ok');
    expect(rig.ipam.allocate({ owner: 'z' })).toMatchObject({ error: { kind: 'exhausted' } });
  });
});

describe('any history of demands and releases', () => {
  const action = fc.record({
    kind: fc.constantFrom('add', 'del', 'rest', 'release', 'fail', 'mend', 'expire'),
    container: fc.integer({ min: 0, max: 5 }),
    last: fc.integer({ min: 0, max: 8 }),
  });

  const steps: Readonly<Record<string, (rig: AgentRig, name: AttachmentName, ip: string) => unknown>> = {
    add: (rig, name) =>
      rig.ipam.holdings.attachment(name) ??
      rig.ipam.allocate({ owner: name.container, attachment: { ...name, since: 0 } }),
    del: (rig, name) => rig.ipam.detach([name]),
    rest: (rig, _, ip) => rig.ipam.allocate({ owner: 'r', fixed: [ip], families: ['ipv4'], timeout: 1000 }),
    release: (rig, _, ip) => rig.ipam.releaseIP(place(ip)),
    fail: (rig) => (rig.recordProblem = 'full'),
    mend: (rig) => (rig.recordProblem = undefined),
    expire: (rig) => rig.clock.advance(1000),
  };

  test('keeps each address with one holder, and what the record says is what is held', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const rig = new AgentRig({ blocks: both });
        for (const { kind, container, last } of actions) {
          const name = { network: 'n', container: `c${container}`, interface: 'eth0' };
          await steps[kind]?.(rig, name, `10.0.0.${last}`);
          check(rig);
        }
      }),
      { numRuns: 200 },
    );
  });

  function check(rig: AgentRig): void {
    const attached = [...rig.ipam.holdings.attachments()].flatMap(({ places }) => places.map(({ ip }) => ip));
    expect(new Set(attached).size).toBe(attached.length);
    expect(attached.filter((ip) => !rig.held.includes(ip))).toEqual([]);
    for (const { family, used } of rig.ipam.figures()) {
      // One more is taken: the router.
      expect(rig.ipam.pools.allocator(family)?.taken).toBe(used + 1);
    }
    const recorded = new Holdings();
    for (const change of rig.changes) recorded.apply(change);
    expect([...recorded.held()].map(({ ip }) => ip).toSorted()).toEqual(rig.held);
  }
});
