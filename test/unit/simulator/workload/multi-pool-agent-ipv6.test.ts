import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../../../src/simulator/workload/agent.ts';
import type { AgentContext } from '../../../../src/simulator/workload/agent-context.ts';
import { isObject, type JsonObject, listAt, textsAt } from '../../../../src/simulator/workload/json.ts';
import { addresses, Cluster, eni, nodeFacts } from './cluster.ts';

interface Rig {
  readonly cluster: Cluster;
  readonly agent: Agent;
  readonly context: AgentContext;
}

const minute = 60_000;
const prefix = '2600:1f14:1:1:a::/80';
const other = '2600:1f14:1:1:b::/80';
const facts = { ...nodeFacts, ipv6: true };

/** An agent with IPv6 whose status shows `enis`, after its writes are complete. */
async function started(enis: readonly JsonObject[] = []): Promise<Rig> {
  const cluster = new Cluster();
  await cluster.createNode();
  const context = cluster.context({ facts });
  const agent = cluster.agent('multi-pool', context);
  agent.start();
  await cluster.clock.advance(0);
  await cluster.offer(enis);
  await cluster.clock.advance(2.5 * minute);
  return { cluster, agent, context };
}

function interfaceWith(...prefixes: readonly string[]): JsonObject {
  return eni('eni-1', addresses(9), { 'ipv6-prefixes': prefixes });
}

async function pools(cluster: Cluster): Promise<{ readonly needed: unknown; readonly cidrs: unknown }> {
  const node = await cluster.ciliumNode();
  const [requested] = listAt(node, 'spec', 'ipam', 'pools', 'requested').filter(isObject);
  const [allocated] = listAt(node, 'spec', 'ipam', 'pools', 'allocated').filter(isObject);
  return { needed: requested?.['needed'], cidrs: textsAt(allocated, 'cidrs') };
}

const singles = addresses(9).map((address) => `${address}/32`);

describe('an agent of the multi-pool protocol with IPv6', () => {
  test('requests addresses of both families and lists IPv4 before IPv6', async () => {
    const { cluster, agent } = await started();
    const before = (await pools(cluster)).needed;

    await cluster.offer([interfaceWith(prefix)]);
    agent.add('default/a');
    await cluster.clock.advance(2 * minute);

    expect(before).toEqual({ 'ipv4-addrs': 8, 'ipv6-addrs': 8 });
    expect(await pools(cluster)).toEqual({
      needed: { 'ipv4-addrs': 9, 'ipv6-addrs': 9 },
      cidrs: [...singles, prefix],
    });
  });

  test.each([
    ['IPv4 alone', [interfaceWith()]],
    ['IPv6 alone', [eni('eni-1', [], { 'ipv6-prefixes': [prefix] })]],
    ['a prefix that does not parse', [interfaceWith('2600:1f14:1:1:a/80')]],
    ['a prefix of another field', [eni('eni-1', addresses(9), { prefixes: [prefix] })]],
  ])('never becomes ready with %s', async (_, enis) => {
    const { cluster, agent } = await started(enis);

    await cluster.clock.advance(60 * minute);

    expect(agent.phase).toBe('starting');
  });

  test('becomes ready as soon as the missing family is there', async () => {
    const { cluster, agent } = await started([interfaceWith()]);

    await cluster.offer([interfaceWith(prefix)]);
    await cluster.clock.advance(0);

    expect(agent.phase).toBe('serving');
  });

  test('gives each pod one address of each family, and frees both', async () => {
    const { agent, context } = await started([interfaceWith(prefix)]);

    const answer = agent.add('default/a');
    const during = [...context.memory.ipv6Endpoints];
    agent.remove('default/a');

    expect(answer).toEqual({
      kind: 'allocated',
      address: expect.stringMatching(/^10\.0\.1\./) as unknown,
      ipv6: expect.stringMatching(/^2600:1f14:1:1:a:/) as unknown,
    });
    expect(during.map(([, owner]) => owner)).toEqual(['default/a']);
    expect(context.memory.ipv6Endpoints.size + context.memory.endpoints.size).toBe(0);
  });

  test('gives none of either family where one is exhausted', async () => {
    const { agent, context } = await started([eni('eni-1', addresses(1), { 'ipv6-prefixes': [prefix] })]);
    agent.add('default/a');

    const answer = agent.add('default/b');

    expect(answer.kind).toBe('refused');
    expect([...context.memory.ipv6Endpoints.values()]).toEqual(['default/a']);
  });

  test('keeps a prefix in use that leaves the status, lists it, gives nothing new of it and reports the loss', async () => {
    const { cluster, agent } = await started([interfaceWith(prefix)]);
    agent.add('default/a');

    await cluster.offer([interfaceWith(other)]);
    await cluster.clock.advance(2 * minute);
    const next = agent.add('default/b');

    expect((await pools(cluster)).cidrs).toEqual([...singles, prefix, other]);
    expect(next).toMatchObject({ ipv6: expect.stringMatching(/^2600:1f14:1:1:b:/) as unknown });
    expect(agent.violations.map(({ what }) => what)).toEqual(['address-vanished']);
  });

  test('restores both addresses of a pod after a restart', async () => {
    const { cluster, agent, context } = await started([interfaceWith(prefix)]);
    const before = agent.add('default/a');
    await agent.stop();

    const successor = cluster.agent('multi-pool', context);
    successor.start();
    await cluster.clock.advance(minute);

    expect(successor.add('default/a')).toEqual(before);
    expect(successor.violations).toEqual([]);
  });

  test('reports a pod whose prefix is gone at a restart, and frees its address of the other family', async () => {
    const { cluster, agent, context } = await started([interfaceWith(prefix)]);
    agent.add('default/a');
    await agent.stop();
    await cluster.offer([interfaceWith(other)]);

    const successor = cluster.agent('multi-pool', context);
    successor.start();
    await cluster.clock.advance(2 * minute);

    expect(successor.violations.map(({ what }) => what)).toEqual(['lost-across-restart']);
    expect(context.memory.endpoints.size).toBe(0);
    // A pod that could not be restored counts as one that waits.
    expect((await pools(cluster)).needed).toEqual({ 'ipv4-addrs': 8, 'ipv6-addrs': 9 });
  });

  test('drops a second prefix that it does not need', async () => {
    const { cluster } = await started([interfaceWith(prefix, other)]);

    expect((await pools(cluster)).cidrs).toEqual([...singles.slice(0, 8), prefix]);
  });
});

describe('an agent of the CRD allocator', () => {
  test('neither asks for IPv6 nor waits for it', async () => {
    const cluster = new Cluster();
    await cluster.createNode();
    const agent = cluster.agent('crd-allocator', { facts });
    agent.start();
    await cluster.clock.advance(0);

    await cluster.offer([eni('eni-1', addresses(9))]);
    await cluster.clock.advance(minute);

    expect(agent.phase).toBe('serving');
    expect(agent.add('default/a')).not.toHaveProperty('ipv6');
  });
});
