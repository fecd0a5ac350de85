// Pods by cnitool and the reference plugins, as a container runtime makes them.
import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, endAll, program as headwaterProgram } from '../integration/commands/child.ts';
import { NodeMachine } from './rig/node-machine.ts';

let node: NodeMachine;

afterEach(async () => {
  await endAll();
  await node.remove();
});

interface AddAnswer {
  readonly ips: readonly { readonly address: string; readonly gateway: string }[];
}

function addressesIn(out: string): readonly string[] {
  return (JSON.parse(out) as AddAnswer).ips.map(({ address }) => address.split('/')[0] ?? '');
}

/** With as many files as the plugin leaves. */
function fill(queue: string): void {
  mkdirSync(queue);
  for (let file = 0; file < 4096; file++)
    writeFileSync(join(queue, `${file.toString(16).padStart(64, '0')}.delete`), '');
}

const both = ['--ipam=host-scope', '--ipv4-range=10.99.1.0/24', '--ipv6-range=fd99::/112'];

describe('a pod', () => {
  test.each([
    ['ptp', 'IPv4', { type: 'ptp' }, ['--ipam=host-scope', '--ipv4-range=10.99.1.0/24'], 1],
    ['ptp', 'IPv6', { type: 'ptp' }, ['--ipam=host-scope', '--ipv6-range=fd99::/112'], 1],
    ['ptp', 'both families', { type: 'ptp' }, both, 2],
    ['bridge', 'both families', { type: 'bridge', bridge: 'cni0', isGateway: true }, both, 2],
  ])(
    'of %s with %s gets its addresses, reaches its node, and leaves nothing',
    async (_, __, conf, flags, count) => {
      node = await NodeMachine.create(flags);
      await node.startAgent();
      await node.network('pods', conf);
      const pod = await node.pod();

      const added = await node.cnitool(
        'add',
        'pods',
        pod,
        'IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b',
      );

      expect(added).toMatchObject({ code: 0, err: '' });
      const addresses = addressesIn(added.out);
      expect(addresses).toHaveLength(count);
      expect(await node.held()).toEqual(addresses.toSorted());
      for (const address of addresses) expect(await node.ping(node.name, address)).toMatchObject({ code: 0 });
      for (const { gateway } of (JSON.parse(added.out) as AddAnswer).ips) {
        expect(await node.ping(pod, gateway)).toMatchObject({ code: 0 });
      }
      expect(await node.cnitool('check', 'pods', pod)).toMatchObject({ code: 0 });
      expect(await node.cnitool('status', 'pods', pod)).toMatchObject({ code: 0 });

      expect(await node.cnitool('del', 'pods', pod)).toMatchObject({ code: 0, err: '' });

      expect(await node.held()).toEqual([]);
    },
  );

  test('of another one is reached', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.network('pods', { type: 'ptp' });
    const [one, other] = [await node.pod(), await node.pod()];
    await node.cnitool('add', 'pods', one);

    const { out } = await node.cnitool('add', 'pods', other);

    for (const address of addressesIn(out)) expect(await node.ping(one, address)).toMatchObject({ code: 0 });
  });

  test('keeps its address when the agent is killed, and gives it up by a DEL that no agent heard', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.network('pods', { type: 'ptp' });
    const [one, other] = [await node.pod(), await node.pod()];
    const kept = addressesIn((await node.cnitool('add', 'pods', one)).out);
    const gone = addressesIn((await node.cnitool('add', 'pods', other)).out);
    await node.agent.stop('SIGKILL');

    expect(await node.cnitool('add', 'pods', await node.pod())).toMatchObject({ code: 1 });
    expect(await node.cnitool('del', 'pods', other)).toMatchObject({ code: 0 });
    expect(globSync(join(node.directory, 'run/deleteQueue/*.delete'))).toHaveLength(1);
    await node.startAgent();

    expect(await node.held()).toEqual(kept.toSorted());
    expect(kept).not.toEqual(gone);
    expect(globSync(join(node.directory, 'run/deleteQueue/*'))).toEqual([]);
    expect(await node.cnitool('del', 'pods', one)).toMatchObject({ code: 0 });
    expect(await node.held()).toEqual([]);
  });

  test('is one of 30 at once: each has an address of its own, and nothing is left of them', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.network('pods', { type: 'headwater-ipam' });
    const conf = (verb: string, id: number) =>
      node.plugin(
        { CNI_COMMAND: verb, CNI_CONTAINERID: `c${id}`, CNI_NETNS: '/n', CNI_IFNAME: 'eth0' },
        { cniVersion: '1.1.0', name: 'pods', ipam: { type: 'headwater-ipam', socket: node.socket } },
      );
    const ids = Array.from({ length: 30 }, (_, id) => id);

    const added = await Promise.all(ids.map((id) => conf('ADD', id)));

    expect(added.filter(({ code }) => code !== 0)).toEqual([]);
    expect(new Set(added.flatMap(({ out }) => addressesIn(out))).size).toBe(60);
    expect(await node.held()).toHaveLength(60);
    await Promise.all(ids.map((id) => conf('DEL', id)));
    expect(await node.held()).toEqual([]);
  });
});

describe('an agent in another network namespace', () => {
  test('ends with 1 on files that an agent uses, and takes them over once that is killed', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.ask('/v1/ipam/10.99.1.7?owner=x', 'POST');
    const start = (...places: readonly string[]): Child =>
      new Child(['netns', 'exec', node.name, headwaterProgram, 'agent', ...places, ...both], {
        program: 'ip',
      });
    const [state, socket] = [`--state-dir=${join(node.directory, 'state')}`, `--socket-path=${node.socket}`];

    const onState = await start(state, `--socket-path=${join(node.directory, 'other/agent.sock')}`).ended;
    const onSocket = await start(`--state-dir=${join(node.directory, 'other')}`, socket).ended;

    expect(onState).toMatchObject({ code: 1, err: expect.stringContaining('set --state-dir') });
    expect(onSocket).toMatchObject({ code: 1, err: expect.stringContaining('set --socket-path') });
    expect(await node.held()).toEqual(['10.99.1.7']);
    await node.agent.stop('SIGKILL');
    const next = start(state, socket);
    await next.said(/"msg":"serving"/);
    expect(await node.held()).toEqual(['10.99.1.7']);
    expect(await next.stop()).toMatchObject({ code: 0 });
  });
});

describe('30 pods at once', () => {
  const conf = (verb: string, id: number) =>
    node.plugin(
      { CNI_COMMAND: verb, CNI_CONTAINERID: `c${id}`, CNI_NETNS: '/n', CNI_IFNAME: 'eth0' },
      { cniVersion: '1.1.0', name: 'pods', ipam: { type: 'headwater-ipam', socket: node.socket } },
    );
  const ids = Array.from({ length: 30 }, (_, id) => id);

  test('have what they were answered when the agent is killed among them, and leave nothing', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    const adding = ids.map((id) => conf('ADD', id));
    await Promise.race(adding);
    await node.agent.stop('SIGKILL');
    const added = await Promise.all(adding);
    await node.startAgent();

    const answered = added.filter(({ code }) => code === 0).flatMap(({ out }) => addressesIn(out));
    const held = await node.held();
    expect(new Set(answered).size).toBe(answered.length);
    expect(answered.filter((address) => !held.includes(address))).toEqual([]);
    // A runtime sends the DEL of each ADD, whatever it answered.
    const deleting = ids.map((id) => conf('DEL', id));
    await Promise.race(deleting);
    await node.agent.stop('SIGKILL');
    for (const [id, { code }] of (await Promise.all(deleting)).entries()) {
      if (code !== 0) expect(await conf('DEL', id)).toMatchObject({ code: 0 });
    }
    await node.startAgent();
    expect(await node.held()).toEqual([]);
  });

  test('leave nothing when their plugins are killed', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    const ended = ids.map((id) => node.killedPlugin('ADD', `c${id}`, id));
    await Promise.all(ended);
    await Promise.all(ids.map((id) => conf('DEL', id)));

    expect(await node.held()).toEqual([]);
  });
});

describe('the plugin', () => {
  const conf = (ipam: object = {}, more: object = {}) => ({
    cniVersion: '1.1.0',
    name: 'n',
    ipam: { type: 'headwater-ipam', socket: node.socket, ...ipam },
    ...more,
  });
  const env = (verb: string) => ({
    CNI_COMMAND: verb,
    CNI_CONTAINERID: 'c',
    CNI_NETNS: '/n',
    CNI_IFNAME: 'eth0',
  });

  test('answers VERSION without an agent', async () => {
    node = await NodeMachine.create(both);

    const { code, out } = await node.plugin({ CNI_COMMAND: 'VERSION' }, { cniVersion: '1.0.0' });

    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      cniVersion: '1.0.0',
      supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
    });
  });

  test.each([
    ['ADD', 11],
    ['CHECK', 11],
    ['GC', 11],
    ['STATUS', 50],
  ])('says at %s that no agent is there, with the socket', async (verb, code) => {
    node = await NodeMachine.create(both);

    const { out } = await node.plugin(env(verb), conf());

    expect(JSON.parse(out)).toMatchObject({ code, msg: expect.stringContaining(node.socket) });
  });

  test.each([
    ['10 MB of input', () => ' '.repeat(10 * 2 ** 20), 6],
    ['no JSON', () => '{"cniVersion":"1.1.0","name":"n","ipam":{"socket":"SOCKET"}} x', 6],
    ['a hundred thousand brackets', () => '['.repeat(100_000), 6],
    ['a hundred levels', () => `{"a":${'['.repeat(100)}${']'.repeat(100)},"ipam":{"socket":"SOCKET"}}`, 6],
    ['a byte order mark', () => `\ufeff${JSON.stringify(conf())}`, 6],
    ['half a configuration', () => '{"cniVersion":"1.1.0","name":"n","ipam":{"socket":"SOCKET"}', 6],
    ['a missing comma', () => '{"cniVersion":"1.1.0" "name":"n","ipam":{"socket":"SOCKET"}}', 6],
    ['a zero byte', () => '{"cniVersion":"1.1.0","name":"n","ipam":{"socket":"SOCKET"}}\0', 6],
    ['two sockets', () => '{"cniVersion":"1.1.0","name":"n","ipam":{"socket":"/x","socket":"SOCKET"}}', 7],
    [
      'two sections of ipam',
      () => '{"cniVersion":"1.1.0","name":"n","ipam":{},"\\u0069pam":{"socket":"SOCKET"}}',
      7,
    ],
    // Main plugins, which Go reads JSON for, take them for the same members.
    [
      'a section of ipam in capitals',
      () => '{"cniVersion":"1.1.0","name":"n","IPAM":{"socket":"SOCKET"}}',
      7,
    ],
    ['a Socket', () => '{"cniVersion":"1.1.0","name":"n","ipam":{"Socket":"SOCKET"}}', 7],
    ['a section of ipam that is a list', () => '{"cniVersion":"1.1.0","name":"n","ipam":[]}', 7],
    ['a socket that is too long', () => JSON.stringify(conf({ socket: `/${'x'.repeat(200)}` })), 7],
    ['a socket that is no path', () => JSON.stringify(conf({ socket: 'agent.sock' })), 7],
    ['a socket that is a file', () => JSON.stringify(conf({ socket: '/etc/hostname' })), 11],
    ['a network without a name', () => JSON.stringify({ ...conf(), name: undefined }), 7],
    ['unknown families', () => JSON.stringify(conf({ families: ['ipv5'] })), 7],
    ['a wait of an hour', () => JSON.stringify(conf({ wait: '1h' })), 7],
  ])('refuses %s', async (_, stdin, code) => {
    node = await NodeMachine.create(both);
    await node.startAgent();

    const ran = await node.plugin(env('ADD'), stdin().replace('SOCKET', node.socket));

    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out)).toMatchObject({ code });
    expect(await node.held()).toEqual([]);
  });

  test.each([
    (socket: string) => JSON.stringify(conf({ socket })).replaceAll('/', '\\/'),
    (socket: string) => JSON.stringify(conf({ socket })).replace('"ipam"', '"\\u0069p\\u0061m"'),
    (socket: string) =>
      ` ${JSON.stringify(conf({ socket }, { x: '"}{', y: [{}, [], -1.5e3, null] }), null, 2)}\n`,
  ])('finds the agent in each way to write a configuration', async (textOf) => {
    node = await NodeMachine.create(both);
    await node.startAgent();

    expect(await node.plugin(env('ADD'), textOf(node.socket))).toMatchObject({ code: 0 });
  });

  test('takes an agent that says nothing for hung, and leaves the DEL for it', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.plugin(env('ADD'), conf());
    node.agent.signal('SIGSTOP');

    const [add, status, del] = await Promise.all(
      ['ADD', 'STATUS', 'DEL'].map((verb) => node.plugin(env(verb), conf())),
    );

    const hangs = { msg: expect.stringContaining('was silent for 5 s: it hangs') };
    expect(JSON.parse(add?.out ?? '')).toMatchObject({ code: 11, ...hangs });
    expect(JSON.parse(status?.out ?? '')).toMatchObject({ code: 50, ...hangs });
    expect(del).toMatchObject({ code: 0, out: '' });
    expect(globSync(join(node.directory, 'run/deleteQueue/*.delete'))).toHaveLength(1);
    node.agent.signal('SIGCONT');
  });

  test('waits for an agent that works on an answer', async () => {
    node = await NodeMachine.create(['--ipam=kubernetes', '--k8s-api-server=http://127.0.0.1:9']);
    await node.startAgent();

    const { out } = await node.plugin(env('ADD'), conf({ wait: '7s' }));

    expect(JSON.parse(out)).toMatchObject({
      code: 11,
      msg: expect.stringContaining('waiting for spec.podCIDRs'),
    });
  });

  test('prints on standard error why a GC without a list releases nothing', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    await node.plugin(env('ADD'), conf());

    const ran = await node.plugin(env('GC'), conf());

    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toContain('cni.dev/valid-attachments');
    expect(await node.held()).toHaveLength(2);
  });

  test.each(['full', 'no directory'])('fails a DEL with 5 where its queue is %s', async (state) => {
    node = await NodeMachine.create(both);
    const queue = join(node.directory, 'run/deleteQueue');
    mkdirSync(join(node.directory, 'run'), { recursive: true });
    if (state === 'full') fill(queue);
    else writeFileSync(queue, '');

    const { code, out } = await node.plugin(env('DEL'), conf());

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ code: 5 });
  });

  test('makes no folder for a DEL where the network says that the socket is', async () => {
    node = await NodeMachine.create(both);
    const elsewhere = join(node.directory, 'elsewhere');
    mkdirSync(elsewhere);

    for (const socket of [
      join(elsewhere, 'agent.sock'),
      join(node.directory, 'new/agent.sock'),
      `/var/run/headwater/../..${elsewhere}/agent.sock`,
    ]) {
      const { code, out } = await node.plugin(env('DEL'), conf({ socket }));
      expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 5 });
    }

    expect(globSync(join(node.directory, '{new,elsewhere/*}'))).toEqual([]);
  });

  test('names the file of a DEL by its SHA-256', async () => {
    node = await NodeMachine.create(both);
    mkdirSync(join(node.directory, 'run/deleteQueue'), { recursive: true });

    await node.plugin(env('DEL'), conf());

    const [path = ''] = globSync(join(node.directory, 'run/deleteQueue/*.delete'));
    expect(existsSync(path)).toBe(true);
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256')
      .update(await node.read(path.slice(node.directory.length)))
      .digest('hex');
    expect(path.endsWith(`${digest}.delete`)).toBe(true);
  });
});
