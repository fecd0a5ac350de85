// Networks that are never given out, of every kind of allocator.
import { describe, expect, test } from '@jest/globals';
import type { Allocator } from '../../../../src/agent/allocators/allocator.ts';
import { CrdAllocator } from '../../../../src/agent/allocators/crd-allocator.ts';
import { MultiPoolAllocator } from '../../../../src/agent/allocators/multi-pool-allocator.ts';
import { agentChecks, agentSettings } from '../../../../src/agent/agent-settings.ts';
import { loadOptions } from '../../../../src/config/load-options.ts';
import { cidrOf } from '../../../../src/blocks/set/cidr.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { emptyEnvironment, rawFlags } from '../../../support/given-options.ts';
import { AgentRig, blockOf, excluded } from '../agent-rig.ts';

const place = (ip: string, pool = 'default') => ({ pool, ip });
const lasts = [2n, 3n, 4n, 5n, 6n];

function poolOf(...texts: readonly string[]): MultiPoolAllocator {
  const allocator = new MultiPoolAllocator('ipv4', new Random('pool'));
  const rest = { allowsFirst: false, allowsLast: false, details: {}, isUsable: true };
  allocator.take(texts.flatMap((text) => cidrOf(text) ?? []).map((cidr) => ({ cidr, ...rest })));
  return allocator;
}

function singles(): CrdAllocator {
  const offered = { resource: 'eni-1', owner: '', isLeaving: false };
  const addresses = new Map(lasts.map((last) => [(10n << 24n) + last, offered]));
  return new CrdAllocator('ipv4', { addresses, interfaces: undefined }, new Random('crd'));
}

/** All with 10.0.0.2 to 10.0.0.6. */
const allocators: Readonly<Record<string, () => Allocator>> = {
  'a block': () => blockOf('10.0.0.0/29'),
  'a pool': () => poolOf('10.0.0.0/31', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6/32'),
  'single addresses': singles,
};

function takeAll(rig: AgentRig): readonly string[] {
  while (rig.ipam.allocate({ owner: 'x' }).kind === 'ok');
  return rig.held;
}

describe.each(Object.entries(allocators))('an excluded network of %s', (name, allocatorOf) => {
  const others = name === 'a pool' ? ['10.0.0.0', '10.0.0.1'] : [];

  test.each([
    ['10.0.0.4/30', ['10.0.0.2', '10.0.0.3']],
    ['10.0.0.3/32', ['10.0.0.2', '10.0.0.4', '10.0.0.5', '10.0.0.6']],
    ['10.0.0.0/8', []],
    ['10.1.0.0/16', ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']],
  ])('%s is not given out', (text, left) => {
    for (const isFirst of [true, false]) {
      const rig = new AgentRig({ blocks: [] });
      const expected = text === '10.0.0.0/8' ? [] : [...others, ...left];
      if (isFirst) rig.ipam.pools.exclude(excluded(text));
      rig.ipam.serve(allocatorOf());
      if (!isFirst) rig.ipam.pools.exclude(excluded(text));

      expect(rig.ipam.figures()[0]).toMatchObject({ capacity: expected.length, available: expected.length });
      expect(takeAll(rig)).toEqual(expected);
      expect(rig.ipam.figures()[0]).toMatchObject({ used: expected.length, available: 0 });
    }
  });

  test('keeps what is held until it is released, and refuses an address that is asked for', () => {
    const rig = new AgentRig({ blocks: [] });
    rig.ipam.serve(allocatorOf());
    rig.ipam.allocateIP('10.0.0.5', 'x');
    rig.ipam.pools.exclude(excluded('10.0.0.4/30'));

    expect(rig.ipam.figures()[0]).toMatchObject({ used: 1, available: 2 + others.length });
    expect(rig.ipam.allocateIP('10.0.0.6', 'y')).toMatchObject({
      error: { kind: 'excluded', message: 'IP 10.0.0.6 is excluded, owned by excluded' },
    });
    expect(rig.ipam.releaseIP(place('10.0.0.5')).kind).toBe('ok');
    expect(rig.ipam.figures()[0]).toMatchObject({ used: 0, available: 2 + others.length });
    expect(takeAll(rig)).toEqual([...others, '10.0.0.2', '10.0.0.3']);
  });
});

test('half of a network of 2^64 addresses is left out at once', () => {
  const rig = new AgentRig({ blocks: ['fd00::/64'] });
  rig.ipam.pools.exclude(excluded('fd00::/65'));

  for (let round = 0; round < 100; round++) {
    const outcome = rig.ipam.allocate({ owner: 'x' });
    expect(outcome.kind === 'ok' && outcome.value[0]?.ip).toMatch(/^fd00::[89a-f]...:/);
  }
});

test('an exclusion of one pool leaves the others alone', () => {
  const rig = new AgentRig({ blocks: [] });
  rig.ipam.serve(poolOf('10.0.0.0/29'));
  rig.ipam.serve(poolOf('10.0.0.8/29'), 'blue');
  rig.ipam.pools.exclude(excluded('10.0.0.0/28', 'blue'));

  expect(rig.ipam.allocate({ owner: 'x', pool: 'blue' }).kind).toBe('failed');
  expect(rig.ipam.releaseIP(place('10.0.0.9', 'blue')).kind).toBe('failed');
  expect(rig.ipam.allocate({ owner: 'x' }).kind).toBe('ok');
  expect([...rig.ipam.pools.excluded]).toEqual([['blue=10.0.0.0/28', 'excluded']]);
});

describe('the option exclude-ips', () => {
  const read = (text: string, mode = 'multi-pool') => {
    const loaded = loadOptions(
      rawFlags({ 'node-name': 'n', ipam: mode, 'exclude-ips': text }),
      emptyEnvironment,
      { command: 'agent', checks: agentChecks },
    );
    if (loaded.kind === 'refused') return loaded.problems.join('\n');
    return agentSettings(loaded.options).excluded;
  };

  test('takes addresses, networks, and a pool before each', () => {
    expect(read('10.0.0.9,fd00::/120 blue=10.1.0.8/29')).toEqual([
      { network: cidrOf('10.0.0.9/32') },
      { network: cidrOf('fd00::/120') },
      { network: cidrOf('10.1.0.8/29'), pool: 'blue' },
    ]);
  });

  test.each([
    ['10.0.0.300', 'multi-pool', 'it is no address and no network'],
    ['10.0.0.0/33', 'multi-pool', 'it is no address and no network'],
    ['10.0.0.9/24', 'multi-pool', 'it has bits set beyond its prefix length'],
    ['blue=10.0.0.0/24', 'cluster-pool', 'ipam=cluster-pool has the pool default alone'],
  ])('refuses %s with %s', (text, mode, why) => {
    expect(read(text, mode)).toContain(why);
  });

  test('takes the pool of the other modes', () => {
    expect(read('default=10.0.0.0/24', 'cluster-pool')).toEqual([
      { network: cidrOf('10.0.0.0/24'), pool: 'default' },
    ]);
  });
});
