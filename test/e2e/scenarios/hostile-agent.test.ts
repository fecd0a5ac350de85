// Runs the table of attacks on a real API server, under the shipped roles. What the server accepts reaches the controller, and
// other node is affected.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { ciliumNodesPath, newOwnNode } from '../../../src/simulator/workload/own-node.ts';
import { attacks, type Strike } from '../../support/attacks.ts';
import { CloudCalls } from '../rig/cloud-calls.ts';
import { E2eCluster } from '../rig/e2e-cluster.ts';
import { replaceRole } from '../rig/service-accounts.ts';
import { shippedRoles } from '../rig/shipped-roles.ts';

/** Two idle nodes, one with a hostile agent, and an instance that is no node. */
const [victims, liarIndex, strangerIndex] = [2, 2, 3];
const addresses = Array.from({ length: 250 }, (_, index) => `10.21.0.${index + 4}`);

/** Only to end what hangs: the API server checks hundreds of large objects, which takes minutes on a busy machine. */
const limit = 900_000;

let cluster: E2eCluster;

beforeEach(async () => {
  // Hundreds of objects, some of half a megabyte, so list them rarely.
  cluster = await E2eCluster.start({ nodes: 4, spare: 1, lookInterval: 15_000 });
});

afterEach(() => cluster.stop());

/** Whether the API server accepts it. The schema of CiliumNodes refuses some. */
async function attempt(method: 'PATCH' | 'POST', path: string, body: JsonObject): Promise<boolean> {
  return cluster.api.call(method, path, body).then(
    () => true,
    () => false,
  );
}

/** Whether the API server accepts all of it. */
async function write(name: string, { metadata = {}, spec = {}, status }: Strike): Promise<boolean> {
  const isTaken = await attempt('PATCH', `${ciliumNodesPath}/${name}`, { metadata, spec });
  if (status === undefined) return isTaken;
  return (await attempt('PATCH', `${ciliumNodesPath}/${name}/status`, { status })) && isTaken;
}

/** Rows under way at once. */
const width = 4;

/** The rows of which the API server accepts no write, by name. */
async function attack(): Promise<readonly string[]> {
  const refused: string[] = [];
  const { name, instanceId, vpcId } = cluster.machine(0);
  const stranger = cluster.machine(strangerIndex);
  const victim = { name, instanceId, node: await cluster.ciliumNode(name) };
  const target = { victim, strangerId: stranger.instanceId, vpcId, addresses };
  const left = attacks.entries();
  const strikeRows = async (): Promise<void> => {
    for (const [row, { what, strikes }] of left) {
      let isTaken = false;
      for (const [index, strike] of strikes(target).entries()) {
        const fake = `a-fake-${row}-${index}`;
        const facts = { ...stranger, name: fake, instanceId: strike.instanceId ?? stranger.instanceId };
        await attempt('POST', ciliumNodesPath, newOwnNode(facts, 'uid'));
        isTaken = (await write(fake, strike)) || isTaken;
        if (index < 3) await write(cluster.machine(liarIndex).name, strike);
      }
      if (!isTaken) refused.push(what);
    }
  };
  await Promise.all(Array.from({ length: width }, strikeRows));
  return refused;
}

const innocent = (): readonly string[] => cluster.machines.slice(0, victims).map(({ name }) => name);

/** Adds pods to the idle nodes and waits until each has an address. */
async function grow(prefix: string): Promise<void> {
  for (const nodeName of innocent())
    for (let index = 0; index < 5; index++)
      await cluster.workload.createPod({ name: `${prefix}-${nodeName}-${index}`, nodeName });
  const isServed = (name: string): boolean => cluster.workload.view(name).pendingPods.size === 0;
  await cluster.until(`pods ${prefix} have addresses`, () => innocent().every(isServed));
}

async function harm(): Promise<readonly string[]> {
  await cluster.invariants.check();
  const lost = cluster.invariants.violations.filter((text) =>
    innocent().some((name) => text.startsWith(name)),
  );
  const reported = await Promise.all(innocent().map((name) => cluster.operatorError(name)));
  return [...lost.filter((text) => !text.includes('a-fake-')), ...reported.filter((text) => text !== '')];
}

function heldByStranger(): number {
  const { instanceId } = cluster.machine(strangerIndex);
  const own = [...cluster.ec2.network.interfaces.values()].filter((item) => item.instanceId === instanceId);
  return own.reduce((sum, item) => sum + item.addresses.length, 0);
}

describe('all attacks at once on a real API server', () => {
  test(
    'take nothing that other nodes have or need, before and after a change of leader',
    async () => {
      const first = await cluster.startReadyController();
      await cluster.untilSupplied();
      const before = heldByStranger();

      const refused = await attack();
      await grow('second');
      await first.process.child.kill();
      await cluster.startReadyController();
      await grow('third');

      expect(refused).toEqual([]);
      expect(await harm()).toEqual([]);
      expect(heldByStranger()).toBeGreaterThanOrEqual(before);
    },
    limit,
  );

  test(
    'take nothing from any node when Headwater may not read Nodes',
    async () => {
      const started = await cluster.startReadyController();
      await cluster.untilSupplied();
      await started.process.child.kill();
      const calls = new CloudCalls(cluster.ec2.gateway, cluster.clock);
      for (const role of await shippedRoles()) {
        const rules = role.rules.filter(({ resources }) => !resources.includes('nodes'));
        await replaceRole(cluster.api.call, { ...role, rules });
      }
      const withoutNodes = await cluster.startReadyController();
      await cluster.until('it says so', () =>
        withoutNodes.at('warn').some(({ message }) => message.startsWith('cannot read Nodes')),
      );

      await attack();
      await grow('second');

      expect(calls.takenAway(0)).toEqual([]);
      expect(await harm()).toEqual([]);
    },
    limit,
  );
});
