// An agent whose state directory is on a disk of its own that other programs fill: with bytes, and with files.
import { afterEach, expect, test } from '@jest/globals';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must, NodeMachine, type Ran } from './rig/node-machine.ts';

let node: NodeMachine;
let disk: string;

afterEach(async () => {
  await node.agent.stop('SIGKILL');
  await must('umount', disk);
  await node.remove();
});

const maxFiles = 12;

/** Until neither another byte nor another file fits. */
function fill(): void {
  const full: unknown[] = [];
  for (let file = 0; full.length < 2; file++) {
    try {
      writeFileSync(join(disk, `filled-${file}`), Buffer.alloc(file === 0 ? 2 ** 21 : 0));
    } catch (error) {
      full.push(error);
    }
  }
}

function call(verb: string, container: string, more: object = {}): Promise<Ran> {
  const env = { CNI_COMMAND: verb, CNI_CONTAINERID: container, CNI_NETNS: '/n', CNI_IFNAME: 'eth0' };
  const ipam = { type: 'headwater-ipam', socket: node.socket };
  return node.plugin(env, { cniVersion: '1.1.0', name: 'pods', ipam, ...more });
}

test('a full disk stops no DEL, no GC and no start of the agent, and STATUS says it', async () => {
  node = await NodeMachine.create(['--ipam=host-scope', '--ipv4-range=10.99.1.0/24']);
  disk = join(node.directory, 'state');
  mkdirSync(disk);
  await must('mount', '-t', 'tmpfs', '-o', `size=1500k,nr_inodes=${maxFiles}`, 'none', disk);
  await node.startAgent();
  for (const container of ['c1', 'c2', 'c3', 'c4']) expect((await call('ADD', container)).code).toBe(0);

  fill();
  const status = await call('STATUS', '');
  expect(JSON.parse(status.out)).toMatchObject({ code: 50, msg: expect.stringContaining('make room') });
  expect(await call('DEL', 'c1')).toMatchObject({ code: 0, out: '' });
  await node.agent.stop('SIGKILL');
  await node.startAgent();

  expect(await node.held()).toHaveLength(3);
  expect(await call('DEL', 'c2')).toMatchObject({ code: 0, out: '' });
  const valid = [{ containerID: 'c3', ifname: 'eth0' }];
  expect(await call('GC', '', { 'cni.dev/valid-attachments': valid })).toMatchObject({ code: 0 });
  expect(await node.held()).toHaveLength(1);
  rmSync(join(disk, 'filled-0'));
  expect(await call('STATUS', '')).toMatchObject({ code: 0, out: '' });
});
