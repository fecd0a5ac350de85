import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../../../src/simulator/workload/agent.ts';
import type { AgentContext } from '../../../../src/simulator/workload/agent-context.ts';
import {
  isObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from '../../../../src/simulator/workload/json.ts';
import { addresses, Cluster, eni, nodeFacts } from './cluster.ts';

interface Rig {
  readonly cluster: Cluster;
  readonly agent: Agent;
  readonly context: AgentContext;
}

const minute = 60_000;

async function started(options: Partial<AgentContext> = {}): Promise<Rig> {
  const cluster = new Cluster();
  await cluster.createNode();
  const context = cluster.context(options);
  const agent = cluster.agent('multi-pool', context);
  agent.start();
  await cluster.clock.advance(0);
  return { cluster, agent, context };
}

/** A serving agent with these interfaces in the status, whose writes are complete, and which may write at once. */
async function serving(
  enis: Parameters<Cluster['offer']>[0],
  options: Partial<AgentContext> = {},
): Promise<Rig> {
  const rig = await started(options);
  await rig.cluster.offer(enis);
  await rig.cluster.clock.advance(2.5 * minute);
  return rig;
}

async function requested(cluster: Cluster): Promise<number> {
  const [entry] = listAt(await cluster.ciliumNode(), 'spec', 'ipam', 'pools', 'requested').filter(isObject);
  return numberAt(entry, 'needed', 'ipv4-addrs');
}

async function reported(cluster: Cluster): Promise<readonly string[]> {
  const [entry] = listAt(await cluster.ciliumNode(), 'spec', 'ipam', 'pools', 'allocated').filter(isObject);
  return textsAt(entry, 'cidrs');
}

function allocated(agent: Agent, ...owners: readonly string[]): readonly (string | undefined)[] {
  return owners.map((owner) => {
    const answer = agent.add(owner);
    return answer.kind === 'allocated' ? answer.address : undefined;
  });
}

function owners(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `default/p${index}`);
}

function singles(count: number, from = 1): readonly string[] {
  return addresses(count, from).map((address) => `${address}/32`);
}

function whats(agent: Agent): readonly string[] {
  return agent.violations.map((violation) => violation.what);
}

describe('the start of an agent of the multi-pool protocol', () => {
  test('requests eight addresses at once, and lists no CIDRs before it has seen one', async () => {
    const { cluster } = await started();

    expect(await requested(cluster)).toBe(8);
    expect(listAt(await cluster.ciliumNode(), 'spec', 'ipam', 'pools', 'allocated')).toEqual([]);
  });

  test('uses the buffer that the CiliumNode names', async () => {
    const { cluster } = await started();

    await cluster.patchSpec({ ipam: { 'pre-allocate': 3 } });
    await cluster.clock.advance(minute);

    expect(await requested(cluster)).toBe(3);
  });

  test('serves as soon as an address is there, however long that takes', async () => {
    const { cluster, agent } = await started();
    await cluster.clock.advance(60 * minute);
    const before = agent.phase;

    await cluster.offer([eni('eni-1', ['10.0.1.1'])]);
    await cluster.clock.advance(0);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
  });

  test('reads only the status, not the pool', async () => {
    const { cluster, agent } = await started();

    await cluster.patchSpec({ ipam: { pool: { '10.0.1.1': { resource: 'eni-1' } } } });
    await cluster.clock.advance(minute);

    expect(agent.phase).toBe('starting');
  });

  test('waits for the public address that its node asks for, however long that takes', async () => {
    const facts = { ...nodeFacts, ipam: { staticIpTags: { pool: 'egress' } } };
    const { cluster, agent } = await serving([eni('eni-1', ['10.0.1.1'])], { facts });
    const before = agent.phase;

    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    await cluster.clock.advance(0);

    expect([before, agent.phase]).toEqual(['starting', 'serving']);
  });

  test('does not serve before its demand is in the CiliumNode', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    await agent.stop();
    await cluster.patchSpec({ ipam: { pools: null } });
    const late = cluster.agent('multi-pool', cluster.context({ watchLag: 1_000 }));

    late.start();
    await cluster.clock.advance(0);
    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    await cluster.clock.advance(30_000);
    const before = [late.phase, await requested(cluster)];
    await cluster.clock.advance(minute);

    expect(before).toEqual(['starting', 0]);
    expect([late.phase, await requested(cluster)]).toEqual(['serving', 8]);
  });

  test('empties the used addresses that an agent of the other protocol left', async () => {
    const { cluster, agent } = await started();
    await agent.stop();
    await cluster.patchStatus({ ipam: { used: { '10.0.1.1': { owner: 'a', resource: 'eni-1' } } } });

    cluster.agent('multi-pool').start();
    await cluster.clock.advance(0);

    expect(objectAt(await cluster.ciliumNode(), 'status', 'ipam', 'used')).toEqual({});
  });
});

describe('allocation by an agent of the multi-pool protocol', () => {
  test('uses all of a prefix, then single addresses, of interfaces that are not excluded', async () => {
    const facts = { ...nodeFacts, eni: { firstInterfaceIndex: 1 }, ipam: { preAllocate: 18 } };
    const prefix = Array.from({ length: 16 }, (_, index) => `10.0.2.${16 + index}`);
    const { agent } = await serving(
      [
        eni('eni-0', ['10.0.3.1']),
        eni('eni-1', [...prefix, '10.0.1.1'], { number: 1, prefixes: ['10.0.2.16/28'] }),
      ],
      { facts },
    );

    const given = allocated(agent, ...owners(18));

    expect(new Set(given)).toEqual(new Set([...prefix, '10.0.1.1', undefined]));
  });

  test.each([
    ['no MAC', { mac: '' }],
    ['no subnet CIDR', { subnet: { id: 'subnet-1', cidr: '' } }],
  ])('fails with the reason when the address does not resolve: %s', async (_, entry) => {
    const { cluster, agent } = await serving([eni('eni-1', ['10.0.1.1'])]);
    await cluster.patchStatus({ eni: { enis: { 'eni-1': entry } } });
    await cluster.clock.advance(0);

    const answer = agent.add('a');
    const whileBroken = agent.addressesInUse().size;
    await cluster.offer([eni('eni-1', ['10.0.1.1'])]);
    await cluster.clock.advance(0);

    expect(answer.kind).toBe('refused');
    expect(whileBroken).toBe(0);
    expect(whats(agent)).toEqual(['offered-without-interface']);
    expect(allocated(agent, 'a')).toEqual(['10.0.1.1']);
  });
});

describe('the request of an agent of the multi-pool protocol', () => {
  test('counts addresses in use, failed attempts and the buffer', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);

    allocated(agent, ...owners(10), 'default/p9');
    await cluster.clock.advance(15_000);

    expect(await requested(cluster)).toBe(8 + 2 + 8);
  });

  test('counts a failed attempt for five minutes', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    allocated(agent, ...owners(9));

    await cluster.clock.advance(5 * minute - 1);
    const before = await requested(cluster);
    await cluster.clock.advance(minute + 1);

    expect([before, await requested(cluster)]).toEqual([17, 16]);
  });

  test('counts an attempt once when it succeeds later', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    allocated(agent, ...owners(9));
    await cluster.offer([eni('eni-1', addresses(9))]);
    await cluster.clock.advance(0);

    allocated(agent, ...owners(9));
    await cluster.clock.advance(15_000);

    expect(await requested(cluster)).toBe(17);
  });

  test('is written at most once in 15 s, and not at all while nothing changes', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    const start = cluster.clock.monotonic();
    const writes = () =>
      cluster.events.filter((event) => event.at > start && event.kind === 'written').map((event) => event.at);
    await cluster.clock.advance(10 * minute);
    const idle = writes().length;

    for (const owner of owners(60)) {
      agent.add(owner);
      await cluster.clock.advance(1_000);
    }

    const times = writes();
    expect(idle).toBe(0);
    expect(times.length).toBeGreaterThanOrEqual(3);
    expect(times.slice(1).every((at, index) => at - (times[index] ?? 0) >= 15_000)).toBe(true);
  });

  test('waits for a later cause or the timer, if its cause comes within 15 seconds of a comparison', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(12))]);
    agent.add('default/a');
    await cluster.clock.advance(1_000);
    agent.add('default/b');
    await cluster.clock.advance(19_000);
    const dropped = await requested(cluster);

    agent.add('default/c');
    await cluster.clock.advance(1);

    expect([dropped, await requested(cluster)]).toEqual([9, 11]);
  });

  test('is written again after a conflict, at the next cause or the next refresh', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))], { watchLag: 2_000 });

    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    agent.add('default/a');
    await cluster.clock.advance(1);
    const refused = cluster.events.at(-1);
    await cluster.clock.advance(minute);

    expect(refused).toMatchObject({ kind: 'write-refused', detail: '409 Conflict' });
    expect(await requested(cluster)).toBe(9);
    const node = await cluster.ciliumNode();
    expect(textAt(node, 'status', 'ipam', 'assigned-static-ip')).toBe('203.0.113.1');
  });
});

describe('the CIDRs that an agent of the multi-pool protocol holds', () => {
  test('are reported as far as they are needed, and the last ones are dropped', async () => {
    const { cluster } = await serving([eni('eni-1', addresses(12))]);

    expect(await reported(cluster)).toEqual(singles(8));
  });

  test('are as many as leave the buffer free beside the addresses in use', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    allocated(agent, ...owners(2));

    await cluster.offer([eni('eni-1', addresses(12))]);
    await cluster.clock.advance(minute);

    expect(await reported(cluster)).toHaveLength(10);
  });

  test('are never dropped before the endpoints are restored', async () => {
    const { cluster, agent, context } = await serving([eni('eni-1', addresses(12))]);
    const given = allocated(agent, ...owners(8));
    await agent.stop();
    const next = cluster.agent('multi-pool', context);

    next.start();
    await cluster.clock.advance(0);
    const first = await reported(cluster);
    await cluster.clock.advance(15_000);

    expect(first).toHaveLength(12);
    expect(await reported(cluster)).toHaveLength(12);
    expect(allocated(next, ...owners(8))).toEqual(given);
  });

  test('are reclaimed in memory before the agent reports them again', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(12))], { watchLag: 2_000 });
    allocated(agent, ...owners(8));
    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    await cluster.clock.advance(1);
    const refused = cluster.events.at(-1)?.kind;

    const given = allocated(agent, 'default/next');

    expect(refused).toBe('write-refused');
    expect(given).toEqual(['10.0.1.12']);
    expect(await reported(cluster)).toEqual(singles(8));
    await cluster.clock.advance(2 * minute);
    expect(await reported(cluster)).toContain('10.0.1.12/32');
  });

  test('are new when they were dropped, detached and attached again', async () => {
    const { cluster } = await serving([eni('eni-1', addresses(9))]);
    await cluster.offer([eni('eni-1', addresses(8))]);
    await cluster.clock.advance(minute);
    await cluster.patchSpec({ ipam: { 'pre-allocate': 9 } });

    await cluster.offer([eni('eni-1', addresses(9))]);
    await cluster.clock.advance(minute);

    expect(await reported(cluster)).toEqual(singles(9));
  });

  test('follow the demand when pods go', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(12))]);
    allocated(agent, ...owners(4));
    await cluster.clock.advance(minute);
    const busy = await reported(cluster);

    for (const owner of owners(4)) agent.remove(owner);
    await cluster.clock.advance(minute);

    expect([busy.length, (await reported(cluster)).length]).toEqual([12, 8]);
  });
});

describe('a violation that an agent of the multi-pool protocol reports', () => {
  async function using(address: string): Promise<Rig> {
    const rig = await serving([eni('eni-1', [address])]);
    rig.agent.add('default/a');
    await rig.cluster.clock.advance(minute);
    return rig;
  }

  test.each<[string, (cluster: Cluster) => Promise<unknown>, readonly string[]]>([
    [
      'its address leaves the status',
      (c) => c.patchStatus({ eni: { enis: { 'eni-1': { addresses: [] } } } }),
      ['address-vanished'],
    ],
    [
      'its interface goes',
      (c) => c.patchStatus({ eni: { enis: { 'eni-1': null } } }),
      ['interface-vanished'],
    ],
    [
      'its interface is excluded',
      (c) => c.patchSpec({ eni: { 'first-interface-index': 1 } }),
      ['address-vanished'],
    ],
    [
      'its address moves',
      (c) =>
        c.patchStatus({
          eni: { enis: { 'eni-1': { addresses: [] }, 'eni-2': eni('eni-2', ['10.0.1.1'], { number: 1 }) } },
        }),
      ['address-moved'],
    ],
    ['its address leaves the pool, which it does not read', (c) => c.patchSpec({ ipam: { pool: null } }), []],
    ['more is offered', (c) => c.offer([eni('eni-1', addresses(5))]), []],
  ])('%s', async (_, harm, expected) => {
    const { cluster, agent } = await using('10.0.1.1');

    await harm(cluster);
    await cluster.clock.advance(0);

    expect(whats(agent)).toEqual(expected);
    expect(agent.missingAddresses().size).toBe(expected.length);
    expect(cluster.bugs).toEqual([]);
  });

  test('covers a CIDR that the agent has not reported yet', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(8))]);
    await cluster.offer([eni('eni-1', addresses(8)), eni('eni-2', addresses(1, 9), { number: 1 })]);
    await cluster.clock.advance(0);
    allocated(agent, ...owners(9));

    await cluster.patchStatus({ eni: { enis: { 'eni-2': { addresses: [] } } } });
    await cluster.clock.advance(0);

    expect(whats(agent)).toEqual(['address-vanished']);
  });

  test('does not cover a CIDR that the agent had reported as dropped, and the agent requests it again', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(12))], { watchLag: 2_000 });
    allocated(agent, ...owners(8));
    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    await cluster.clock.advance(1);
    const [crossed = ''] = allocated(agent, 'default/next');

    await cluster.patchStatus({ eni: { enis: { 'eni-1': { addresses: addresses(8) } } } });
    await cluster.clock.advance(2_000);
    const missing = agent.missingAddresses();
    await cluster.clock.advance(2 * minute);

    expect(crossed).toBe('10.0.1.12');
    expect(agent.violations).toEqual([]);
    expect(missing).toEqual(new Map([[crossed, 'default/next']]));
    expect(await reported(cluster)).toContain(`${crossed}/32`);
  });

  test('covers a CIDR that was dropped once and attached again since', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(9))]);
    agent.add('default/short');
    agent.remove('default/short');
    await cluster.clock.advance(1);
    await cluster.offer([eni('eni-1', addresses(8))]);
    await cluster.offer([eni('eni-1', addresses(9))]);
    await cluster.clock.advance(0);
    const [, , , , , , , , crossed] = allocated(agent, ...owners(9));

    await cluster.offer([eni('eni-1', addresses(8))]);
    await cluster.clock.advance(0);

    expect(agent.violations).toMatchObject([{ address: crossed, what: 'address-vanished' }]);
  });

  test('does not cover a dropped CIDR that is lost across a restart', async () => {
    const { cluster, agent, context } = await serving([eni('eni-1', addresses(12))], { watchLag: 2_000 });
    allocated(agent, ...owners(8));
    await cluster.patchStatus({ ipam: { 'assigned-static-ip': '203.0.113.1' } });
    await cluster.clock.advance(1);
    allocated(agent, 'default/next');
    await agent.stop();
    await cluster.patchStatus({ eni: { enis: { 'eni-1': { addresses: addresses(8) } } } });

    const next = cluster.agent('multi-pool', context);
    next.start();
    await cluster.clock.advance(minute);

    expect(next.violations).toEqual([]);
    expect([...next.addressesInUse().values()].toSorted()).toEqual(owners(8));
  });

  test('covers a CIDR that is lost after the agent requested it again', async () => {
    const { cluster, agent } = await serving([eni('eni-1', addresses(12))]);
    allocated(agent, ...owners(8));
    await cluster.clock.advance(minute);
    allocated(agent, 'default/next');
    await cluster.clock.advance(minute);

    await cluster.patchStatus({ eni: { enis: { 'eni-1': { addresses: addresses(8) } } } });
    await cluster.clock.advance(0);

    expect(whats(agent)).toEqual(['address-vanished']);
  });

  test('covers an address that is missing after a restart', async () => {
    const { cluster, agent, context } = await using('10.0.1.1');
    await agent.stop();
    await cluster.patchStatus({ eni: { enis: { 'eni-1': { addresses: ['10.0.1.2'] } } } });

    cluster.agent('multi-pool', context).start();
    await cluster.clock.advance(minute);

    expect(context.memory.violations.entries).toMatchObject([
      { pod: 'default/a', address: '10.0.1.1', what: 'lost-across-restart' },
    ]);
  });
});

describe('an agent of the multi-pool protocol that replaces one of the CRD allocator', () => {
  test('keeps every pod’s address, requests by the new protocol and leaves nothing of the old', async () => {
    const cluster = new Cluster();
    await cluster.createNode();
    const context = cluster.context();
    const old = cluster.agent('crd-allocator', context);
    old.start();
    await cluster.clock.advance(0);
    await cluster.offer([eni('eni-1', addresses(12))]);
    await cluster.clock.advance(5_000);
    const given = allocated(old, ...owners(4));
    await cluster.clock.advance(minute);
    await old.stop();

    const next = cluster.agent('multi-pool', context);
    next.start();
    await cluster.clock.advance(minute);

    expect(allocated(next, ...owners(4))).toEqual(given);
    expect(await requested(cluster)).toBe(12);
    expect(objectAt(await cluster.ciliumNode(), 'status', 'ipam', 'used')).toEqual({});
    expect(context.memory.violations.entries).toEqual([]);
  });
});
