// A container of containerd and runc, whose network comes from the reference ptp plugin and the agent: in a machine of its own,
// whose network, file systems and processes end with the test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { busyboxImage, packImage } from './rig/busybox-image.ts';
import { cniPath, type Ran, run } from './rig/node-machine.ts';

const program = join(import.meta.dirname, '../../bin/headwater');
/** Whatever runs in it ends with its first process. */
const machine = ['--mount', '--net', '--propagation=private', '--pid', '--fork', '--mount-proc'];
/** Where containerd looks for networks and plugins, and what its shims write. */
const places = ['/etc/cni', '/opt/cni', '/run/containerd'];

const missing = ['containerd', 'ctr', 'runc', 'busybox'].filter(
  (name) => spawnSync('which', [name]).status !== 0,
);
if (missing.length > 0)
  process.stdout.write(
    `not run: a container of containerd, because ${missing.join(', ')} is not on the PATH: apt-get install containerd busybox-static\n`,
  );
const whereContainerdIs = missing.length > 0 ? describe.skip : describe;

let directory: string;
let made: readonly string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-containerd-'));
  made = places.filter((place) => !existsSync(place));
  for (const place of made) await mkdir(place, { recursive: true });
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  for (const place of made) await rmdir(place);
});

async function inMachine(commands: readonly string[]): Promise<Ran> {
  const at = (name: string): string => join(directory, name);
  const flags = `--ipam=host-scope --ipv4-range=10.99.1.0/24 --socket-path=${at('agent.sock')} --state-dir=${at('state')}`;
  const network = {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'ptp', ipam: { type: 'headwater-ipam', socket: at('agent.sock') } }],
  };
  const config = [
    'version = 2',
    `root = "${at('root')}"`,
    `state = "${at('run')}"`,
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    `[grpc]\naddress = "${at('containerd.sock')}"`,
  ];
  await writeFile(at('config.toml'), config.join('\n'));
  await writeFile(at('pods.conflist'), JSON.stringify(network));
  const lines = [
    'set -eu',
    ...places.map((place) => `mount -t tmpfs none ${place}`),
    'ip link set lo up',
    'mkdir -p /opt/cni/bin /etc/cni/net.d',
    `cp -L ${cniPath}/ptp ${cniPath}/headwater-ipam /opt/cni/bin/`,
    `cp ${at('pods.conflist')} /etc/cni/net.d/`,
    `${program} agent ${flags} > ${at('agent.log')} &`,
    `containerd --config ${at('config.toml')} > ${at('containerd.log')} 2>&1 &`,
    `held() { curl -s --unix-socket ${at('agent.sock')} http://localhost/v1/ipam; }`,
    'until held > /dev/null; do sleep 0.1; done',
    `ctr() { command ctr --address ${at('containerd.sock')} "$@"; }`,
    'until ctr version > /dev/null 2>&1; do sleep 0.1; done',
    ...commands,
  ];
  await writeFile(at('script'), lines.join('\n'));
  return run('unshare', [...machine, 'bash', '--norc', at('script')]);
}

whereContainerdIs('a container of containerd', () => {
  test('gets an address of the agent, reaches its node, and leaves nothing', async () => {
    const image = await packImage(directory);

    const { code, out, err } = await inMachine([
      `ctr images import --snapshotter native ${image} > /dev/null`,
      `ctr run --cni --rm --snapshotter native ${busyboxImage} first sh -c 'ip -4 -o addr show eth0; ping -c 1 10.99.1.1'`,
      'held',
    ]);

    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/eth0 +inet 10\.99\.1\.\d+\/24/);
    expect(out).toContain('1 packets received');
    expect(out).toContain('"addresses":{}');
  });
});
