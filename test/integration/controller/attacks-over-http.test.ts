// Runs all attacks of the table at once, over HTTP: what an API server accepts reaches the controller as in a cluster.
import { afterEach, describe, expect, test } from '@jest/globals';
import { invariantViolations } from '../../../src/simulator/cluster/invariants.ts';
import { type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { newOwnNode } from '../../../src/simulator/workload/own-node.ts';
import { attacks, type Strike } from '../../support/attacks.ts';
import { fastReleaseFlags as flags } from '../../support/fast-release-flags.ts';
import { HttpCluster } from '../../support/http-cluster.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

const nodesPath = '/apis/cilium.io/v2/ciliumnodes';
const victims = 2;
const addresses = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`);

let world: HttpCluster;

afterEach(() => world.end());

async function start(): Promise<void> {
  world = new HttpCluster({
    cloud: testCloud({
      instances: [
        instance({ type: 'm5.xlarge', count: victims + 1 }),
        instance({ name: 'stranger', type: 'm5.xlarge', interfaces: [{ deviceIndex: 1, addresses: 5 }] }),
      ],
    }),
    configure: (index) => ({
      protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
      ipam: { preAllocate: 4 },
    }),
    flags,
    pace: 15,
  });
  await world.start();
  for (const machine of world.machines.slice(0, victims + 1)) await world.cluster.workload.addNode(machine);
  await grow('first');
}

/** Adds pods to the other nodes and waits until each has an address. */
async function grow(prefix: string): Promise<void> {
  const { workload } = world.cluster;
  const own = world.machines.slice(0, victims);
  for (const { name } of own)
    for (let index = 0; index < 4; index++)
      await workload.createPod({ name: `${prefix}-${name}-${index}`, nodeName: name });
  const served = (): boolean =>
    own.every(({ name }) => {
      const { pendingPods, addressesInUse } = workload.view(name);
      return pendingPods.size === 0 && addressesInUse.size >= 4;
    });
  await world.until(`the pods ${prefix} have addresses`, served);
}

function ciliumNode(name: string): JsonObject {
  return world.cluster.kubernetes.get('ciliumnodes.cilium.io', name) ?? {};
}

async function write(name: string, { metadata = {}, spec = {}, status }: Strike): Promise<void> {
  await world.send('PATCH', `${nodesPath}/${name}`, { metadata, spec });
  if (status !== undefined) await world.send('PATCH', `${nodesPath}/${name}/status`, { status });
}

/** Runs each row with CiliumNodes that have no Node, and with the agent of the last node in its own CiliumNode. */
async function attack(): Promise<void> {
  const [victim, liar, stranger] = [0, victims, victims + 1].map((index) => world.machines[index]) as [
    NodeFacts,
    NodeFacts,
    NodeFacts,
  ];
  const { name, instanceId, vpcId } = victim;
  const target = {
    victim: { name, instanceId, node: ciliumNode(name) },
    strangerId: stranger.instanceId,
    vpcId,
    addresses,
  };
  for (const [row, { strikes }] of attacks.entries())
    for (const [index, strike] of strikes(target).entries()) {
      const fake = `a-fake-${row}-${index}`;
      const facts = { ...stranger, name: fake, instanceId: strike.instanceId ?? stranger.instanceId };
      await world.send('POST', nodesPath, newOwnNode(facts, 'uid'));
      await write(fake, strike);
      if (index < 3) await write(liar.name, strike);
    }
  // Refused writes harm no node, so most of them must be accepted.
  expect(fakes().length).toBeGreaterThan(300);
  expect(
    fakes().filter((node) => Object.keys(objectAt(node, 'spec', 'ipam', 'pool')).length > 0),
  ).not.toEqual([]);
}

function fakes(): readonly JsonObject[] {
  const nodes = world.cluster.kubernetes.list('ciliumnodes.cilium.io') as readonly JsonObject[];
  return nodes.filter((node) => textAt(node, 'metadata', 'name').startsWith('a-fake-'));
}

/** What the other nodes have lost, and the warnings about them. */
function harm(): readonly string[] {
  const names = world.machines.slice(0, victims).map(({ name }) => name);
  const lost = invariantViolations(world.cluster)
    .filter(({ what, node }) => names.includes(node) && what !== 'address-offered-twice')
    .map(({ text }) => text);
  const reported = names.map((name) =>
    textAt(ciliumNode(name), 'status', 'ipam', 'operator-status', 'error'),
  );
  return [...lost, ...reported.filter((text) => text !== ''), ...world.bugs.map(String)];
}

function heldByStranger(): number {
  const id = world.machines[victims + 1]?.instanceId;
  const own = [...world.cluster.ec2.network.interfaces.values()].filter((item) => item.instanceId === id);
  return own.reduce((sum, item) => sum + item.addresses.length, 0);
}

describe('all attacks at once, over HTTP', () => {
  test('take nothing that other nodes have or need, before and after a change of leader', async () => {
    await start();
    const before = heldByStranger();

    await attack();
    await grow('second');
    await world.changeLeader();
    await grow('third');
    await world.pass(60_000);

    expect(harm()).toEqual([]);
    expect(heldByStranger()).toBeGreaterThanOrEqual(before);
  }, 120_000);

  test('take nothing from any node when Headwater may not read Nodes', async () => {
    await start();
    const message = 'nodes is forbidden';
    world.cluster.kubernetes.faults.inject({
      method: 'GET',
      path: /^\/api\/v1\/nodes/,
      times: Infinity,
      effect: { kind: 'refuse', failure: { code: 403, reason: 'Forbidden', message } },
    });
    await world.changeLeader();
    const before = world.taken.length;

    await attack();
    await grow('second');
    await world.changeLeader();
    await grow('third');
    await world.pass(60_000);

    expect(world.taken.slice(before)).toEqual([]);
    expect(harm()).toEqual([]);
  }, 120_000);
});
