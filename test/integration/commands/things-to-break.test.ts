import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { configureNode, demoTopology } from '../../../src/commands/demo/demo-topology.ts';
import { thingsToBreak } from '../../../src/commands/demo/things-to-break.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { createEmbeddedCluster } from '../../../src/simulator/cluster/embedded-cluster.ts';
import { startEc2Server } from '../../../src/simulator/ec2/ec2-server.ts';
import type { HttpFront } from '../../../src/simulator/http-front.ts';
import {
  type KubernetesServer,
  startKubernetesServer,
} from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { valueAt } from '../../../src/simulator/workload/json.ts';

const run = promisify(execFile);

const topology = demoTopology(4, 'broken');
const cluster = createEmbeddedCluster({
  topology,
  clock,
  random: new Random('broken'),
  pace: 10,
  configure: configureNode,
});
const { gateway, network } = cluster.ec2;
const controller = spawn('sleep', ['600'], { stdio: 'ignore' });
let ec2: HttpFront;
let api: KubernetesServer;
let commands: readonly string[] = [];

beforeAll(async () => {
  ec2 = await startEc2Server({ gateway, clock, port: 0 });
  api = await startKubernetesServer({ model: cluster.kubernetes, clock, port: 0 });
  await cluster.workload.start();
  const place = { endpoint: ec2.url, api: api.url, region: topology.region };
  const lines = thingsToBreak(cluster, { ...place, address: undefined, pid: controller.pid });
  commands = lines.filter((line) => line.startsWith('  ')).filter((line) => !line.startsWith('  #'));
});

afterAll(async () => {
  controller.kill('SIGKILL');
  await cluster.workload.stop();
  await Promise.all([ec2.close(), api.close()]);
  cluster.ec2.clock.stop();
});

/** Runs the commands as a person pastes them into one shell. */
async function paste(...pasted: readonly (string | undefined)[]): Promise<void> {
  await run('bash', ['-c', pasted.join('\n')]);
}

function leastOf(index: number): unknown {
  const wanted = /ciliumnodes\/(\S+)/.exec(commands[index] ?? '')?.[1] ?? '';
  return valueAt(cluster.kubernetes.get('ciliumnodes.cilium.io', wanted), 'spec', 'ipam', 'min-allocate');
}

test('the first commands deny an action until it is permitted again, and make a node need it', async () => {
  await paste(commands[0], commands[1]);
  const { rules } = gateway.faults;
  const during = rules.map(({ action, fault }) => [action, 'code' in fault ? fault.code : undefined]);
  await paste(commands[2]);

  expect(during).toEqual([['AssignPrivateIpAddresses', 'UnauthorizedOperation']]);
  expect(leastOf(1)).toBe(50);
  expect(gateway.faults.rules).toEqual([]);
});

test('the next commands take and free the last addresses of a subnet, and make a node of its zone need some', async () => {
  const free = (): number | undefined =>
    [...network.subnets.values()].find(({ tags }) => tags['Name'] === 'pods-c')?.available;
  const before = free();

  await paste(commands[3]);
  const during = free();
  await paste(`R=${[...network.all('reservations').keys()][0]}`, commands[4], commands[5]);

  expect(before).toBe(59);
  expect(during).toBe(0);
  expect(free()).toBe(before);
  expect(leastOf(4)).toBe(50);
});

test('the last command kills the controller', async () => {
  const ended = once(controller, 'exit');

  await paste(commands[6]);

  expect(await ended).toEqual([null, 'SIGKILL']);
});
