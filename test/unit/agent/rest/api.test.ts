import { beforeEach, describe, expect, test } from '@jest/globals';
import { CrdAllocator } from '../../../../src/agent/allocators/crd-allocator.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { Api, type ApiAnswer, type ApiOptions } from '../../../../src/agent/rest/api.ts';
import { AgentRig, environment, excluded } from '../agent-rig.ts';

let rig: AgentRig;

beforeEach(async () => {
  rig = new AgentRig({ blocks: ['10.0.0.0/24', 'fd00::/120'] });
  rig.ipam.pools.exclude(excluded('10.0.0.9'));
  rig.ipam.allocateIP('10.0.0.20', 'x');
  await rig.call('ADD', { env: { CNI_ARGS: 'IP=10.0.0.7' }, ipam: { families: ['ipv4'] } });
});

const defaults = (): Omit<ApiOptions, 'ipam' | 'answerer'> => ({
  isDelegated: false,
  isSuspected: () => false,
  clock: rig.clock,
  waitingFor: () => rig.waitingFor,
  metrics: { contentType: 'text/plain', scrape: () => Promise.resolve('metrics') },
  expiration: 600_000,
});

interface Asked extends Partial<ApiOptions> {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(
  line: string,
  { body = '', headers = {}, ...more }: Asked = {},
): Promise<ApiAnswer & { readonly json: unknown }> {
  const [, method = '', path = '', query = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(line) ?? [];
  const api = new Api({ ...defaults(), ipam: rig.ipam, answerer: rig.answerer, ...more });
  const request = { method, path, query: new URLSearchParams(query), headers, body };
  const answer = await api.handle(request, new AbortController().signal);
  return { ...answer, json: read(answer) };
}

function read({ body = '', contentType }: ApiAnswer): unknown {
  return contentType === undefined && body !== '' ? JSON.parse(body) : body;
}

describe('a REST call', () => {
  test.each<[string, number, string | undefined]>([
    ['POST /v1/ipam?owner=a/b', 201, undefined],
    ['POST /v1/ipam?family=ipv6', 201, undefined],
    ['POST /v1/ipam?family=ipx', 502, 'unknown address "ipx" family requested'],
    ['POST /v1/ipam?pool=blue', 502, 'there is no pool "blue"'],
    ['POST /v1/ipam/10.0.0.30?owner=y', 200, undefined],
    ['POST /v1/ipam/FD00::0030?owner=y', 200, undefined],
    ['POST /v1/ipam/10.0.0.30?pool=blue', 500, 'there is no pool "blue"'],
    ['POST /v1/ipam/10.0.0.20?owner=y', 500, 'provided IP is already allocated'],
    ['POST /v1/ipam/10.0.0.9', 500, 'IP 10.0.0.9 is excluded, owned by excluded'],
    [
      'POST /v1/ipam/10.9.0.1',
      500,
      'provided IP is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    ],
    ['POST /v1/ipam/x', 500, 'Invalid IP address: x'],
    ['DELETE /v1/ipam/10.0.0.20', 200, undefined],
    ['DELETE /v1/ipam/10.0.0.21', 200, undefined],
    ['DELETE /v1/ipam/10.0.0.20?pool=blue', 500, 'there is no pool "blue"'],
    ['DELETE /v1/ipam/10.0.0.1', 500, 'IP 10.0.0.1 is excluded, owned by router'],
    ['DELETE /v1/ipam/x', 200, undefined],
    ['DELETE /v1/ipam/x?pool=blue', 400, 'Invalid IP address or owner name: x'],
    ['DELETE /v1/ipam/c1:eth0', 500, 'IP is in use by endpoint c1'],
    ['DELETE /v1/ipam/10.0.0.7', 500, 'IP is in use by endpoint c1'],
    ['DELETE /v1/ipam/10.0.0.300', 400, 'Invalid IP address or owner name: 10.0.0.300'],
    ['POST /v1/ipam/10.0.0.20/expiration', 201, undefined],
    ['POST /v1/ipam/10.0.0.20/expiration?timeout=24h', 201, undefined],
    [
      'POST /v1/ipam/10.0.0.20/expiration?timeout=25h',
      400,
      'timeout: accepted is a duration from 1s to 24h, such as 10m',
    ],
    ['POST /v1/ipam/10.0.0.20/expiration?pool=blue', 404, 'IP 10.0.0.20 is not allocated'],
    ['POST /v1/ipam/10.0.0.21/expiration', 404, 'IP 10.0.0.21 is not allocated'],
    ['POST /v1/ipam/10.0.0.7/expiration', 409, 'IP 10.0.0.7 is in use by an attachment'],
    ['POST /v1/ipam/x/expiration', 400, 'Invalid IP address: x'],
    ['DELETE /v1/ipam/10.0.0.20/expiration?uuid=u', 404, 'no expiration timer registered'],
    ['DELETE /v1/ipam/x/expiration', 400, 'Invalid IP address: x'],
    ['GET /v1/healthz', 200, undefined],
    ['GET /v1/ipam', 200, undefined],
    ['GET /metrics', 200, 'metrics'],
    ['POST /metrics', 405, '/metrics answers GET'],
    ['PUT /v1/ipam/10.0.0.20', 405, '/v1/ipam/10.0.0.20 answers POST, DELETE'],
    ['GET /v1/ipam/10.0.0.20/expiration', 405, '/v1/ipam/10.0.0.20/expiration answers POST, DELETE'],
    ['POST /v1/ipam/a/b/c', 404, 'there is no /v1/ipam/a/b/c'],
    ['POST /v1/cni', 400, 'the body is no call of the plugin'],
  ])('%s is answered with %i', async (line, status, body) => {
    const answered = await ask(line);

    expect(answered.status).toBe(status);
    if (body !== undefined) expect(answered.json).toBe(body);
  });

  test('allocates with a timer, of which there is one at a time, and which its UUID stops', async () => {
    const { json } = await ask('POST /v1/ipam?family=ipv4', { headers: { expiration: 'true' } });
    const { ip, 'expiration-uuid': uuid } = (json as { ipv4: Readonly<Record<string, string>> }).ipv4;

    expect((await ask(`POST /v1/ipam/${ip}/expiration`)).status).toBe(409);
    expect((await ask(`DELETE /v1/ipam/${ip}/expiration?uuid=x`)).status).toBe(409);
    const expires = new Date(rig.clock.wall() + 600_000).toISOString();
    expect((await ask('GET /v1/ipam')).json).toMatchObject({ addresses: { [ip ?? '']: { expires } } });
    expect((await ask('GET /v1/debuginfo')).body).toContain(`default/${ip}: , expires ${expires}`);
    expect((await ask(`DELETE /v1/ipam/${ip}/expiration?uuid=${uuid}`)).status).toBe(200);
    expect((await ask(`DELETE /v1/ipam/${ip}/expiration?uuid=${uuid}`)).status).toBe(404);
  });

  test('releases all that an owner has, whose name has a slash, but what an attachment holds', async () => {
    await ask('POST /v1/ipam?owner=a/b');
    await ask('POST /v1/ipam?owner=a/c&family=ipv6');
    const owners = (): readonly string[] =>
      [...rig.ipam.holdings.held()].map(({ owner }) => owner).toSorted();
    expect(owners()).toEqual(['a/b', 'a/b', 'a/c', 'c1:eth0', 'x']);

    expect((await ask('DELETE /v1/ipam/a%2Fb')).status).toBe(200);
    expect(owners()).toEqual(['a/c', 'c1:eth0', 'x']);
    expect(await ask('DELETE /v1/ipam/a%2Fb')).toMatchObject({ status: 400 });
  });

  test('names the interface, the gateway and the networks of each address', async () => {
    const offered = { resource: 'eni-1', owner: '', isLeaving: false };
    const details = { mac: '0e:01', interfaceNumber: '1', gateway: '10.9.0.1', cidrs: ['10.9.0.0/16'] };
    const lacks = { ipv4: undefined, ipv6: undefined };
    const shown = new Map([['eni-1', { details: { ipv4: details, ipv6: {} }, prefixes: [], lacks }]]);
    const addresses = new Map([[(10n << 24n) + (9n << 16n) + 7n, offered]]);
    rig = new AgentRig({ blocks: [] });
    rig.ipam.serve(new CrdAllocator('ipv4', { addresses, interfaces: shown }, new Random('crd')));
    rig.ipam.allocateIP('10.9.0.7', 'x');

    expect((await ask('GET /v1/ipam')).json).toMatchObject({
      addresses: {
        '10.9.0.7': {
          owner: 'x',
          'master-mac': '0e:01',
          'interface-number': '1',
          gateway: '10.9.0.1',
          cidrs: ['10.9.0.0/16'],
        },
      },
    });
  });

  test('names the attachments whose pods seem to be gone', async () => {
    const { json } = await ask('GET /v1/ipam', { isSuspected: ({ container }) => container === 'c1' });

    expect(json).toMatchObject({ addresses: { '10.0.0.7': { suspected: true } } });
    expect(JSON.stringify(json).match(/suspected/g)).toHaveLength(1);
  });

  test('is answered with 503 while the agent waits, and says for what', async () => {
    rig.waitingFor = 'a block';

    expect(await ask('GET /v1/healthz')).toMatchObject({ status: 503, json: { waitingFor: 'a block' } });
  });

  test('of the plugin carries what it prints, and how it exits', async () => {
    const call = (verb: string): string =>
      JSON.stringify({
        env: { ...environment, CNI_COMMAND: verb },
        stdin: '{"cniVersion":"1.1.0","name":"pods"}',
      });

    expect(await ask('POST /v1/cni', { body: call('CHECK') })).toMatchObject({
      status: 200,
      headers: { 'x-cni-exit': '1' },
      json: { code: 7 },
    });
    expect(await ask('POST /v1/cni', { body: call('DEL') })).toMatchObject({
      status: 200,
      body: '',
      headers: { 'x-cni-exit': '0' },
    });
  });

  test.each(['POST /v1/ipam', 'GET /v1/ipam', 'DELETE /v1/ipam/10.0.0.20', 'POST /v1/cni'])(
    '%s is answered with 501 where addresses come from another plugin',
    async (line) => {
      expect((await ask(line, { isDelegated: true })).status).toBe(501);
      expect((await ask('GET /v1/healthz', { isDelegated: true })).status).toBe(200);
    },
  );
});
