// Runs common kubectl commands against the embedded API. Without kubectl, nothing is tested, and the name of the suite says
// so.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kubeConfigFor } from '../../../../src/simulator/kubernetes/kubernetes-server.ts';
import { ciliumNode, type Served, served, until } from './served-model.ts';

const kubectlPath = (process.env['PATH'] ?? '')
  .split(':')
  .map((folder) => join(folder, 'kubectl'))
  .find(isExecutable);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const suite = kubectlPath === undefined ? describe.skip : describe;
const title = kubectlPath === undefined ? 'kubectl (skipped: there is none on the PATH)' : 'kubectl';

suite(title, () => {
  let rig: Served;
  let folder: string;

  beforeAll(async () => {
    rig = await served();
    folder = await mkdtemp(join(tmpdir(), 'headwater-kubectl-'));
    await writeFile(join(folder, 'config'), kubeConfigFor({ url: rig.server.url }));
    await writeFile(join(folder, 'node.json'), JSON.stringify(ciliumNode('n1')));
  });

  afterAll(async () => {
    await rig.server.close();
    await rm(folder, { recursive: true });
  });

  async function kubectl(...words: readonly string[]): Promise<string> {
    const files = ['--kubeconfig', join(folder, 'config'), '--cache-dir', join(folder, 'cache')];
    const { stdout } = await promisify(execFile)(kubectlPath ?? '', [...files, ...words], { cwd: folder });
    return stdout;
  }

  test('creates, shows and describes CiliumNodes', async () => {
    expect(await kubectl('create', '-f', 'node.json')).toBe('ciliumnode.cilium.io/n1 created\n');

    expect(await kubectl('get', 'ciliumnodes')).toMatch(
      /^NAME\s+CILIUMINTERNALIP\s+INTERNALIP\s+AGE\nn1\s+0s\n$/,
    );
    expect(await kubectl('get', 'cn', '-o', 'wide')).toContain('n1');
    expect(await kubectl('get', 'cilium', '-o', 'name')).toBe('ciliumnode.cilium.io/n1\n');
    expect(await kubectl('get', 'cn', 'n1', '-o', 'yaml')).toContain('kind: CiliumNode');
    expect(await kubectl('describe', 'ciliumnode', 'n1')).toMatch(
      /Name:\s+n1.*API Version:\s+cilium.io\/v2/s,
    );
    expect(await kubectl('explain', 'cn.spec.ipam.pre-allocate')).toContain('Free addresses to keep ready.');
  });

  test('patches, annotates, labels and applies', async () => {
    const spec = '{"spec":{"ipam":{"pre-allocate":4}}}';
    const status = '{"status":{"ipam":{"assigned-static-ip":"192.0.2.1"}}}';

    await kubectl('patch', 'cn', 'n1', '--type=merge', '-p', spec);
    await kubectl('patch', 'cn', 'n1', '--type=merge', '--subresource=status', '-p', status);
    await kubectl('annotate', 'cn', 'n1', 'why=because');
    await kubectl('label', 'cn', 'n1', 'zone=a');
    await kubectl('apply', '-f', 'node.json');

    expect(rig.model.get('ciliumnodes.cilium.io', 'n1')).toMatchObject({
      metadata: { labels: { zone: 'a' }, annotations: { why: 'because' } },
      spec: { ipam: { 'pre-allocate': 4 } },
      status: { ipam: { 'assigned-static-ip': '192.0.2.1' } },
    });
  });

  test('shows refusals in readable words', async () => {
    await expect(kubectl('create', '-f', 'node.json')).rejects.toThrow(
      'Error from server (AlreadyExists): error when creating "node.json": ciliumnodes.cilium.io "n1" already exists',
    );
    await expect(
      kubectl('patch', 'cn', 'n1', '--type=merge', '-p', '{"spec":{"ipam":{"pre-allocate":-1}}}'),
    ).rejects.toThrow('should be greater than or equal to 0');
    await expect(kubectl('get', 'bogus')).rejects.toThrow('the server doesn\'t have a resource type "bogus"');
  });

  test('runs, watches and deletes pods', async () => {
    const words = `--kubeconfig ${join(folder, 'config')} --cache-dir ${join(folder, 'cache')} get pods -A -w`;
    const watching = execFile(kubectlPath ?? '', words.split(' '));
    let seen = '';
    watching.stdout?.on('data', (piece) => {
      seen += String(piece);
    });
    await until(() => rig.model.openWatches === 1);

    await kubectl('run', 'web', '--image=example.org/web:1');
    await kubectl('delete', 'pod', 'web', '--wait=false');
    await until(() => seen.split('\n').length > 3);
    watching.kill();

    expect(seen).toMatch(
      /^NAMESPACE\s+NAME\s+READY\s+STATUS.*\ndefault\s+web\s+0\/1\s+Pending.*\ndefault\s+web.*Terminating/s,
    );
    expect(rig.model.list('pods')).toEqual([]);
  });

  test('shows the other resources', async () => {
    rig.model.faults.clear();

    expect(await kubectl('get', 'nodes,pods', '-A')).toBe('');
    expect(await kubectl('get', 'events', '-A')).toBe('');
    expect(await kubectl('get', 'leases', '-A')).toBe('');
    expect(await kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/default\n');
    expect(await kubectl('get', 'crd', '-o', 'name')).toContain('ciliumnodes.cilium.io\n');
    expect(await kubectl('api-resources', '-o', 'name')).toContain('ciliumnodes.cilium.io\n');
    expect(await kubectl('version', '-o', 'json')).toContain('"gitVersion": "v1.32');
  });

  test('deletes CiliumNodes', async () => {
    expect(await kubectl('delete', 'cn', 'n1')).toBe('ciliumnode.cilium.io "n1" deleted\n');

    expect(rig.model.list('ciliumnodes.cilium.io')).toEqual([]);
  });
});
