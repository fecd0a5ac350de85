// headwater agent as a process, over its Unix socket.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, globSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { AgentProcess, type Answered, type Asked, cniCall, freePort } from './agent-process.ts';
import { type Child, headwater, problemsOf } from './child.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('agent');
let place: string;

beforeEach(() => {
  place = mkdtempSync(join(directory.path, 'a-'));
});

const flagsOf = (...more: readonly string[]): AgentProcess =>
  new AgentProcess(place, ['--ipam=host-scope', '--ipv4-range=10.0.0.0/24', ...more]);
const flags = (...more: readonly string[]): readonly string[] => flagsOf(...more).args;
const socket = (): string => flagsOf().socket;
const started = (...more: readonly string[]): Promise<Child> => flagsOf(...more).start();
const ask = (method: string, path: string, asked?: Asked): Promise<Answered> =>
  flagsOf().ask(method, path, asked);

describe('the socket of an agent', () => {
  test('answers the calls of /v1/ipam as the Cilium agent does', async () => {
    await started('--ipv6-range=fd00::/112', '--exclude-ips=10.0.0.9');

    const next = await ask('POST', '/v1/ipam?family=IPV4&owner=a/b', { headers: { expiration: 'true' } });
    expect(next).toMatchObject({
      status: 201,
      body: {
        address: { ipv4: expect.stringMatching(/^10\.0\.0\.\d+$/), 'ipv4-pool-name': 'default' },
        'host-addressing': {
          ipv4: { enabled: true, ip: '10.0.0.1', 'alloc-range': '10.0.0.0/24', 'address-type': 'InternalIP' },
          ipv6: { enabled: true, ip: 'fd00::1', 'alloc-range': 'fd00::/112', 'address-type': 'InternalIP' },
        },
        ipv4: { 'expiration-uuid': expect.stringMatching(/^[\da-f-]{36}$/) },
      },
    });
    expect(next.body).not.toHaveProperty('ipv6');
    expect(await ask('POST', '/v1/ipam/10.0.0.20?owner=x?y')).toMatchObject({ status: 200, body: '' });
    expect((await ask('GET', '/v1/ipam')).body).toMatchObject({
      addresses: { '10.0.0.20': { owner: 'x?y' } },
    });
    expect(await ask('POST', '/v1/ipam/10.0.0.20?owner=y')).toMatchObject({
      status: 500,
      body: 'provided IP is already allocated',
    });
    expect(await ask('POST', '/v1/ipam/10.0.0.9?owner=y')).toMatchObject({
      status: 500,
      body: 'IP 10.0.0.9 is excluded, owned by excluded',
    });
    expect(await ask('POST', '/v1/ipam?family=ipx')).toMatchObject({
      status: 502,
      body: 'unknown address "ipx" family requested',
    });
    expect(await ask('POST', '/v1/ipam?pool=blue')).toMatchObject({
      status: 502,
      body: 'there is no pool "blue"',
    });
    expect(await ask('DELETE', '/v1/ipam/10.0.0.20')).toMatchObject({ status: 200, body: '' });
    expect(await ask('DELETE', '/v1/ipam/10.0.0.20')).toMatchObject({ status: 200 });
    expect(await ask('DELETE', '/v1/ipam/x')).toMatchObject({
      status: 400,
      body: 'Invalid IP address or owner name: x',
    });
  });

  test('answers the calls of the plugin, and protects what an attachment holds', async () => {
    await started();

    const added = await ask('POST', '/v1/cni', cniCall('ADD'));
    const [ip = ''] = Object.keys(((await ask('GET', '/v1/ipam')).body as { addresses: object }).addresses);

    expect(added).toMatchObject({
      status: 200,
      headers: { 'x-cni-exit': '0' },
      body: { ips: [{ address: `${ip}/24` }] },
    });
    expect(await ask('DELETE', `/v1/ipam/${ip}`)).toMatchObject({
      status: 500,
      body: 'IP is in use by endpoint c1',
    });
    expect(await ask('GET', '/v1/ipam')).toMatchObject({
      status: 200,
      body: {
        status: 'IPv4: 2/254 allocated from 10.0.0.0/24',
        capacity: 253,
        pools: [
          {
            pool: 'default',
            family: 'ipv4',
            cidrs: ['10.0.0.0/24'],
            capacity: 253,
            used: 1,
            available: 252,
            needed: 0,
          },
        ],
        addresses: {
          [ip]: {
            owner: 'c1:eth0',
            pool: 'default',
            attachment: { network: 'pods', container: 'c1', interface: 'eth0' },
          },
        },
        excluded: { '10.0.0.1': 'router' },
      },
    });
    expect(await ask('POST', '/v1/cni', cniCall('DEL'))).toMatchObject({
      status: 200,
      body: '',
      headers: { 'x-cni-exit': '0' },
    });
    expect(await ask('GET', '/v1/healthz')).toMatchObject({
      status: 200,
      body: {
        ipam: { status: 'IPv4: 1/254 allocated from 10.0.0.0/24', allocations: {}, ipv4: [], ipv6: [] },
      },
    });
    const { body } = await ask('GET', '/metrics');
    expect(body).toContain('headwater_agent_cni_requests_total{verb="ADD",code="0"} 1');
    expect(body).toContain('cilium_ipam_events_total{action="release",family="ipv4"} 1');
    expect(body).toContain('cilium_ipam_capacity{family="ipv4"} 253');
    expect((await ask('GET', '/v1/debuginfo')).body).toContain('10.0.0.1: never given out (router)');
  });

  test('starts and stops timers', async () => {
    await started();
    await ask('POST', '/v1/ipam/10.0.0.20?owner=x');
    const timer = '/v1/ipam/10.0.0.20/expiration';

    const { status, body } = await ask('POST', `${timer}?timeout=1h`);
    expect(status).toBe(201);
    const { uuid } = body as { uuid: string };
    expect((await ask('POST', timer)).status).toBe(409);
    expect((await ask('POST', `${timer}?timeout=x`)).status).toBe(400);
    expect((await ask('DELETE', `${timer}?uuid=other`)).status).toBe(409);
    expect((await ask('DELETE', `${timer}?uuid=${uuid}`)).status).toBe(200);
    expect((await ask('DELETE', `${timer}?uuid=${uuid}`)).status).toBe(404);
    expect((await ask('POST', '/v1/ipam/10.0.0.30/expiration')).status).toBe(404);
  });

  test.each<[string, string, Asked, number]>([
    ['GET', '/v1/nothing', {}, 404],
    ['GET', '/', {}, 404],
    ['PUT', '/v1/ipam', {}, 405],
    ['GET', '/v1/cni', {}, 405],
    ['POST', '/v1/cni', { body: 'x' }, 400],
    ['POST', '/v1/cni', { body: '{"env":{"A":1},"stdin":""}' }, 400],
    ['POST', '/v1/cni', { body: 'x'.repeat(2 ** 20 + 1) }, 413],
    ['POST', '/v1/ipam/%zz', {}, 500],
  ])('refuses %s %s, and goes on', async (method, path, asked, status) => {
    await started();

    const answered = await ask(method, path, asked);

    expect(answered.status).toBe(status);
    expect(typeof answered.body).toBe('string');
    expect((await ask('GET', '/v1/healthz')).status).toBe(200);
  });
});

describe('a client that sends without end', () => {
  test('is cut off, which is no bug of the agent', async () => {
    const agent = await started();

    await expect(ask('POST', '/v1/cni', { body: 'x'.repeat(70 * 2 ** 20) })).rejects.toThrow(
      /EPIPE|ECONNRESET|socket hang up/,
    );

    expect((await ask('GET', '/v1/healthz')).status).toBe(200);
    expect((await agent.stop()).out).not.toContain('a bug');
  });
});

describe('headwater agent', () => {
  test('has after a restart, however it ended, what it had before', async () => {
    const first = await started();
    await ask('POST', '/v1/cni', cniCall('ADD'));
    await ask('POST', '/v1/ipam/10.0.0.20?owner=x', {});
    const before = (await ask('GET', '/v1/ipam')).body;
    await first.stop('SIGKILL');

    const second = await started();
    expect((await ask('GET', '/v1/ipam')).body).toEqual(before);
    expect(await second.stop()).toMatchObject({ code: 0 });

    expect(existsSync(socket())).toBe(false);
    await started();
    expect((await ask('GET', '/v1/ipam')).body).toEqual(before);
  });

  test('makes a socket for its user and group alone, in place of one without a listener', async () => {
    const first = await started();
    await first.stop('SIGKILL');
    expect(existsSync(socket())).toBe(true);

    await started();

    expect((statSync(socket()).mode & 0o777).toString(8)).toBe('660');
  });

  test.each([
    [
      'the protocol of pools without interfaces',
      ['--ipam=crd', '--cilium-node-protocol=pools'],
      /^cilium-node-protocol: .* only with ipam=eni, azure, alibabacloud are there addresses of interfaces/,
    ],
    ['no range', ['--ipam=host-scope'], /^ipv4-range: .* ipam=host-scope has no addresses/],
    ['a range of the other family', ['--ipam=host-scope', '--ipv6-range=10.0.0.0/24'], /^ipv6-range: /],
    ['the whole network', ['--ipam=host-scope', '--ipv4-range=0.0.0.0/0'], /^ipv4-range: .* prefix length/],
    ['one address', ['--ipam=host-scope', '--ipv4-range=10.0.0.1/32'], /^ipv4-range: .* prefix length/],
    ['bits beyond the prefix', ['--ipam=host-scope', '--ipv4-range=10.0.0.1/24'], /^ipv4-range: .* bits set/],
    [
      'an excluded address that is none',
      ['--ipam=host-scope', '--ipv4-range=10.0.0.0/24', '--exclude-ips=10.0.0.300'],
      /^exclude-ips: /,
    ],
    [
      'a metrics address without a port',
      ['--ipam=host-scope', '--ipv4-range=10.0.0.0/24', '--prometheus-serve-addr=localhost'],
      /^prometheus-serve-addr: .*host:port/,
    ],
    [
      'a relative socket',
      ['--ipam=host-scope', '--ipv4-range=10.0.0.0/24', '--socket-path=x'],
      /^socket-path: /,
    ],
  ])('ends with 2 for %s', async (_, args, problem) => {
    const ended = await headwater(['agent', ...args]);

    expect(ended.code).toBe(2);
    expect(problemsOf(ended)).toEqual([expect.stringMatching(problem)]);
  });

  test('ends with 1 where another agent lives, and leaves that one alone', async () => {
    await started();
    await ask('POST', '/v1/ipam/10.0.0.20?owner=x');

    const sameState = await headwater(flags(`--socket-path=${join(place, 'other.sock')}`));
    const sameSocket = await headwater(flags(`--state-dir=${join(place, 'other')}`));
    symlinkSync(place, join(place, 'link'));
    const linked = [`--state-dir=${join(place, 'link/state')}`, `--socket-path=${join(place, 'other.sock')}`];
    const sameByLink = await headwater(flags(...linked));

    expect([sameState.code, sameSocket.code, sameByLink.code]).toEqual([1, 1, 1]);
    expect(problemsOf(sameByLink)).toEqual([expect.stringContaining('set --state-dir')]);
    expect(problemsOf(sameState)).toEqual([expect.stringContaining('set --state-dir')]);
    expect(problemsOf(sameSocket)).toEqual([expect.stringContaining('set --socket-path')]);
    expect((await ask('POST', '/v1/ipam/10.0.0.20?owner=y')).status).toBe(500);
  });

  test('serves metrics alone over TCP where an option says so, and gives addresses while the port is taken', async () => {
    const agent = await started('--prometheus-serve-addr=127.0.0.1:0');
    const { port = '' } = (await agent.said(/"port":(?<port>\d+),"msg":"serving metrics"/)).groups ?? {};
    await ask('POST', '/v1/cni', cniCall('ADD'));

    const url = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('cilium_ipam_capacity{family="ipv4"} 253');
    expect((await fetch(`${url}/v1/ipam`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(404);

    const second = mkdtempSync(join(directory.path, 'b-'));
    const other = await new AgentProcess(second, [
      '--ipam=host-scope',
      '--ipv4-range=10.0.1.0/24',
      `--prometheus-serve-addr=127.0.0.1:${port}`,
    ]).start();
    await other.said(
      new RegExp(
        `"problem":"cannot listen on 127.0.0.1:${port}: the port is taken; set --prometheus-serve-addr"`,
      ),
    );
    expect(await other.stop()).toMatchObject({ code: 0 });
    expect(await agent.stop()).toMatchObject({ code: 0 });
  });

  test('answers probes over TCP where an option says so', async () => {
    const port = await freePort();
    const agent = await started(`--agent-health-port=${port}`);
    await agent.said(/"msg":"serving health"/);

    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/status`)).json()).toMatchObject({ mode: 'host-scope', attachments: 0 });
    expect(await agent.stop()).toMatchObject({ code: 0 });
  });

  test('ends with 1 where another program listens on its socket, or the socket is a file', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(socket(), resolve));
    directory.closeLater(() => new Promise((resolve) => other.close(() => resolve())));
    const file = join(place, 'file');
    writeFileSync(file, 'precious');

    const taken = await headwater(flags());
    const noSocket = await headwater(flags(`--socket-path=${file}`));

    expect([taken.code, noSocket.code]).toEqual([1, 1]);
    expect(problemsOf(taken)).toEqual([expect.stringContaining('another process listens')]);
    expect(problemsOf(noSocket)).toEqual([expect.stringContaining('is no socket')]);
    expect(existsSync(file)).toBe(true);
  });

  test('ends with 1 on a damaged record, with the remedy, and leaves it as it is', async () => {
    const first = await started();
    await first.stop();
    const [journal = ''] = globSync(join(place, 'state/*/journal'));
    writeFileSync(journal, 'damage\n');

    const ended = await headwater(flags());

    expect(ended.code).toBe(1);
    expect(problemsOf(ended)).toEqual([expect.stringMatching(/journal is damaged: .*remove/)]);
  });

  test('replays before it serves what the plugin left, and keeps what it cannot replay', async () => {
    const first = await started();
    await ask('POST', '/v1/cni', cniCall('ADD'));
    await first.stop();
    const queue = join(place, 'deleteQueue');
    mkdirSync(queue, { recursive: true });
    writeFileSync(join(queue, `${'a'.repeat(64)}.delete`), cniCall('DEL').body ?? '');
    writeFileSync(join(queue, `${'b'.repeat(64)}.delete`), 'damage');

    await started();

    expect((await ask('GET', '/v1/ipam')).body).toMatchObject({ addresses: {} });
    expect(globSync('*', { cwd: queue })).toEqual([`${'b'.repeat(64)}.delete`]);
  });
});
