// A released address is not given to the next pod at once: routers, firewalls and clients may still mean the last one.
import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrdAllocator } from '../../../../src/agent/allocators/crd-allocator.ts';
import { MultiPoolAllocator } from '../../../../src/agent/allocators/multi-pool-allocator.ts';
import type { Allocator } from '../../../../src/agent/allocators/allocator.ts';
import { AddressRecord } from '../../../../src/agent/record/address-record.ts';
import { cidrOf } from '../../../../src/blocks/set/cidr.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { AgentRig, blockOf } from '../agent-rig.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-resting-'));
afterAll(() => rmSync(root, { recursive: true }));

const usable = [2n, 3n, 4n, 5n, 6n];
const base = 10n << 24n;

const allocators: Readonly<Record<string, () => Allocator>> = {
  'a block': () => blockOf('10.0.0.0/29'),
  'blocks of a pool': () => {
    const allocator = new MultiPoolAllocator('ipv4', new Random('pool'));
    const blocks = usable.flatMap((last) => cidrOf(`10.0.0.${last}/32`) ?? []);
    const ends = { allowsFirst: true, allowsLast: true, details: {}, isUsable: true };
    allocator.take(blocks.map((cidr) => ({ cidr, ...ends })));
    return allocator;
  },
  'single addresses': () => {
    const offered = { resource: 'eni-1', owner: '', isLeaving: false };
    const addresses = new Map(usable.map((last) => [base + last, offered]));
    return new CrdAllocator('ipv4', { addresses, interfaces: undefined }, new Random('crd'));
  },
};

function rigOf(allocator: Allocator, options: ConstructorParameters<typeof AgentRig>[0] = {}): AgentRig {
  const rig = new AgentRig({ ...options, blocks: [] });
  rig.ipam.serve(allocator);
  return rig;
}

function take(rig: AgentRig): string {
  const outcome = rig.ipam.allocate({ owner: 'x' });
  return outcome.kind === 'ok' ? (outcome.value[0]?.ip ?? '') : outcome.error.message;
}

const place = (ip: string) => ({ pool: 'default', ip });

describe.each(Object.entries(allocators))('a released address of %s', (_, allocatorOf) => {
  test.each(Array.from({ length: 8 }, (__, seed) => String(seed)))(
    'rests while others are free, and is given at once when it is the last (seed %s)',
    (seed) => {
      const rig = rigOf(allocatorOf(), { seed });
      const first = take(rig);
      rig.ipam.releaseIP(place(first));

      expect(Array.from({ length: 4 }, () => take(rig))).not.toContain(first);
      expect(take(rig)).toBe(first);
    },
  );

  test('that rests longest is the first of those that rest', async () => {
    const rig = rigOf(allocatorOf());
    const taken = usable.map(() => take(rig));
    for (const ip of taken) {
      rig.ipam.releaseIP(place(ip));
      await rig.clock.advance(1000);
    }

    expect(usable.map(() => take(rig))).toEqual(taken);
  });
});

describe('a released address', () => {
  test('rests for the time that is asked for', async () => {
    const rig = new AgentRig({ cooldown: 5000 });
    const ip = take(rig);
    rig.ipam.releaseIP(place(ip));
    const isResting = (): boolean => rig.ipam.holdings.restOf(place(ip), rig.clock.wall()) !== undefined;

    await rig.clock.advance(4999);
    expect(isResting()).toBe(true);
    await rig.clock.advance(1);
    expect(isResting()).toBe(false);
  });

  test('rests no longer when the wall clock was set back', () => {
    const rig = new AgentRig();
    const ip = take(rig);
    const now = rig.clock.wall();
    rig.ipam.releaseIP(place(ip));

    expect(rig.ipam.holdings.restOf(place(ip), now)).toBe(now + 30_000);
    expect(rig.ipam.holdings.restOf(place(ip), now - 1)).toBeUndefined();
  });

  test('does not rest if nothing is to rest', () => {
    const rig = new AgentRig({ cooldown: 0 });
    const ip = take(rig);
    rig.ipam.releaseIP(place(ip));

    expect(rig.changes.at(-1)).toEqual({ free: [place(ip)] });
  });

  test('is given to who names it', () => {
    const rig = new AgentRig();
    const ip = take(rig);
    rig.ipam.releaseIP(place(ip));

    expect(rig.ipam.allocateIP(ip, 'y').kind).toBe('ok');
    expect(rig.ipam.holdings.restOf(place(ip), rig.clock.wall())).toBeUndefined();
  });

  test.each([false, true])('rests after a restart too; from a snapshot: %s', (isSnapshot) => {
    const directory = mkdtempSync(join(root, 'r-'));
    const open = () => {
      const opened = AddressRecord.open(directory, { boot: 'b', node: 'n' });
      if (opened.kind !== 'open') throw new Error(opened.problem);
      return opened;
    };
    const { record, holdings } = open();
    const rig = rigOf(blockOf('10.0.0.0/29'), { holdings });
    const first = take(rig);
    rig.ipam.releaseIP(place(first));
    for (const change of rig.changes) record.write(change);
    if (isSnapshot) record.snapshot();
    record.close();

    const later = rigOf(blockOf('10.0.0.0/29', 'later'), { holdings: open().holdings });

    expect(Array.from({ length: 4 }, () => take(later))).not.toContain(first);
    expect(take(later)).toBe(first);
  });

  test('is forgotten once it has rested, when another one begins to', async () => {
    const rig = new AgentRig();
    const restingIn = (): number =>
      [...rig.ipam.holdings.changes()].filter(({ rest }) => rest !== undefined).length;
    const ips = [take(rig), take(rig), take(rig)] as const;
    rig.ipam.releaseIP(place(ips[0]));
    rig.ipam.releaseIP(place(ips[1]));
    expect(restingIn()).toBe(2);

    await rig.clock.advance(30_000);
    rig.ipam.releaseIP(place(ips[2]));
    expect(restingIn()).toBe(1);
  });
});
