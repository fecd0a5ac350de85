import { describe, expect, test } from '@jest/globals';
import { AgentRig, blockOf, type CallOptions, environment, printed } from '../agent-rig.ts';

const both = { blocks: ['10.0.0.0/24', 'fd00::/120'] };

async function refusal(rig: AgentRig, verb: string, options: CallOptions = {}): Promise<unknown> {
  const answer = await rig.call(verb, options);
  expect(answer.exit).toBe(1);
  const { code, msg, cniVersion } = printed(answer);
  return { code, msg, cniVersion };
}

/** What ADD prints for CNI 0.3.0 to 0.4.0. */
const withVersion = {
  ips: [{ version: '4', address: '10.0.0.7/24', gateway: '10.0.0.1' }],
  routes: [{ dst: '0.0.0.0/0' }],
};

describe('ADD', () => {
  test.each([
    ['1.1.0', { ips: [{ address: '10.0.0.7/24', gateway: '10.0.0.1' }], routes: [{ dst: '0.0.0.0/0' }] }],
    ['1.0.0', { ips: [{ address: '10.0.0.7/24', gateway: '10.0.0.1' }], routes: [{ dst: '0.0.0.0/0' }] }],
    ['0.4.0', withVersion],
    ['0.3.1', withVersion],
    [
      '0.3.0',
      {
        ips: [{ version: '4', address: '10.0.0.7/24', gateway: '10.0.0.1' }],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    ],
    ['0.2.0', { ip4: { ip: '10.0.0.7/24', gateway: '10.0.0.1', routes: [{ dst: '0.0.0.0/0' }] } }],
    ['0.1.0', { ip4: { ip: '10.0.0.7/24', gateway: '10.0.0.1', routes: [{ dst: '0.0.0.0/0' }] } }],
  ])('prints the result in the shape of version %s', async (cniVersion, shape) => {
    const rig = new AgentRig();

    const answer = await rig.call('ADD', { conf: { cniVersion }, env: { CNI_ARGS: 'IP=10.0.0.7' } });

    expect(answer.exit).toBe(0);
    expect(printed(answer)).toEqual({ cniVersion, ...shape });
  });

  test.each([
    [
      '1.1.0',
      {
        ips: [
          { address: '10.0.0.7/32', gateway: '10.0.0.1' },
          { address: 'fd00::7/128', gateway: 'fd00::1' },
        ],
      },
    ],
    [
      '0.4.0',
      {
        ips: [
          { version: '4', address: '10.0.0.7/32', gateway: '10.0.0.1' },
          { version: '6', address: 'fd00::7/128', gateway: 'fd00::1' },
        ],
      },
    ],
    ['0.2.0', { ip6: { ip: 'fd00::7/128', gateway: 'fd00::1', routes: [{ dst: '::/0' }] } }],
  ])('prints both families in version %s', async (cniVersion, shape) => {
    const rig = new AgentRig(both);

    const answer = await rig.call('ADD', {
      conf: { cniVersion, runtimeConfig: { ips: ['10.0.0.7/24', 'fd00::7'] } },
      ipam: { prefixLength: 'host' },
    });

    expect(printed(answer)).toMatchObject({ cniVersion, ...shape });
  });

  test('takes gateway, routes and resolv.conf of the network', async () => {
    const rig = new AgentRig(both);
    rig.files.set(
      '/etc/r',
      '# x\nnameserver 10.9.9.9\nnameserver 10.9.9.8\nsearch a b\noptions ndots:5 ; y\n',
    );

    const answer = await rig.call('ADD', {
      conf: { args: { cni: { ips: ['10.0.0.7', 'FD00::7'] } } },
      ipam: {
        gateway: '10.0.0.254',
        routes: [{ dst: '10.0.0.0/8', gw: '10.0.0.9', mtu: 1400 }],
        resolvConf: '/etc/r',
      },
    });

    expect(printed(answer)).toEqual({
      cniVersion: '1.1.0',
      ips: [
        { address: '10.0.0.7/24', gateway: '10.0.0.254' },
        { address: 'fd00::7/120', gateway: 'fd00::1' },
      ],
      routes: [{ dst: '10.0.0.0/8', gw: '10.0.0.9', mtu: 1400 }],
      dns: { nameservers: ['10.9.9.9', '10.9.9.8'], search: ['a', 'b'], options: ['ndots:5'] },
    });
  });

  test('of the same attachment again gets the same answer, and holds nothing more', async () => {
    const rig = new AgentRig(both);

    const first = await rig.call('ADD');
    const second = await rig.call('ADD');

    expect(second).toEqual(first);
    expect(rig.held).toHaveLength(2);
  });

  test.each([
    ['K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;IgnoreUnknown=1;X=y', 'shop/web'],
    ['', 'c1:eth0'],
    ['K8S_POD_NAME=web', 'c1:eth0'],
  ])('with arguments %j is for the owner %s', async (args, owner) => {
    const rig = new AgentRig();

    await rig.call('ADD', { env: { CNI_ARGS: args } });

    expect([...rig.ipam.holdings.held()].map((held) => held.owner)).toEqual([owner]);
  });

  test.each<[string, CallOptions, number, string]>([
    ['a pool that does not exist', { ipam: { pool: 'blue' } }, 7, 'there is no pool "blue"'],
    ['a family without a block', { ipam: { families: ['ipv6'] } }, 7, 'IPv6 allocation disabled'],
    [
      'unknown families',
      { ipam: { families: ['ipx'] } },
      7,
      'ipam.families: accepted is a list of ipv4 and ipv6',
    ],
    [
      'a wait of an hour',
      { ipam: { wait: '1h' } },
      7,
      'ipam.wait: accepted is a duration from 0s to 60s, such as 10s',
    ],
    [
      'a prefix length that is none',
      { ipam: { prefixLength: 24 } },
      7,
      'ipam.prefixLength: accepted are block and host',
    ],
    [
      'a gateway that is none',
      { ipam: { gateway: 'x' } },
      7,
      'ipam.gateway: accepted are auto and an address, perhaps with a prefix length',
    ],
    [
      'a route to nowhere',
      { ipam: { routes: [{ gw: '10.0.0.1' }] } },
      7,
      'ipam.routes: each needs a network in dst',
    ],
    ['a missing resolv.conf', { ipam: { resolvConf: '/none' } }, 7, 'ipam.resolvConf: there is no /none'],
    ['a network without a name', { conf: { name: '' } }, 7, 'name: the network has none'],
    [
      'a name with a slash',
      { conf: { name: 'a/b' } },
      7,
      'name: accepted are up to 256 letters, digits and characters of _ . -',
    ],
    [
      'fixed addresses that are none',
      { conf: { runtimeConfig: { ips: [7] } } },
      7,
      'runtimeConfig.ips: it is no list of addresses',
    ],
    [
      'a fixed address outside the block',
      { env: { CNI_ARGS: 'IP=10.9.0.1' } },
      102,
      'provided IP is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    ],
    ['a fixed address in use', { env: { CNI_ARGS: 'IP=10.0.0.5' } }, 102, 'provided IP is already allocated'],
    [
      'the router as a fixed address',
      { env: { CNI_ARGS: 'IP=10.0.0.1' } },
      102,
      'IP 10.0.0.1 is excluded, owned by router',
    ],
    [
      'missing variables',
      { env: { CNI_NETNS: '', CNI_IFNAME: '' } },
      4,
      'required env variables [CNI_NETNS,CNI_IFNAME] missing',
    ],
    [
      'a container id with a slash',
      { env: { CNI_CONTAINERID: 'a/b' } },
      4,
      'CNI_CONTAINERID: accepted are up to 256 letters, digits and characters of _ . -',
    ],
    [
      'a container id of 10,000 characters',
      { env: { CNI_CONTAINERID: 'a'.repeat(10_000) } },
      4,
      'CNI_CONTAINERID: accepted are up to 256 letters, digits and characters of _ . -',
    ],
    [
      'an interface name with a slash',
      { env: { CNI_IFNAME: '../x' } },
      4,
      'CNI_IFNAME: accepted are 1 to 15 characters without slash, colon and blank',
    ],
    ['unknown arguments', { env: { CNI_ARGS: 'A=b' } }, 4, 'CNI_ARGS: unknown args ["A"]'],
    ['arguments without values', { env: { CNI_ARGS: 'A' } }, 4, 'CNI_ARGS: accepted is KEY=value;KEY=value'],
  ])('refuses %s', async (_, options, code, msg) => {
    const rig = new AgentRig();
    rig.ipam.allocateIP('10.0.0.5', 'other');

    expect(await refusal(rig, 'ADD', options)).toEqual({ code, msg, cniVersion: '1.1.0' });
    expect(rig.held).toEqual(['10.0.0.5']);
  });

  test.each(['', '{', '[]', 'null'])('refuses the network configuration %j', async (stdin) => {
    const rig = new AgentRig();
    const call = { env: { ...environment, CNI_COMMAND: 'ADD' }, stdin };

    expect(printed(await rig.answerer.answer(call, new AbortController().signal))).toMatchObject({ code: 6 });
  });

  test.each(['9.0.0', '1.1', 'v1.1.0', ' 1.1.0', 1.1, [], {}])(
    'refuses the version %j, which does not exist',
    async (cniVersion) => {
      expect(await refusal(new AgentRig(), 'ADD', { conf: { cniVersion } })).toMatchObject({ code: 1 });
    },
  );

  test.each([undefined, null, ''])('takes the version %j for the first one', async (cniVersion) => {
    const answer = await new AgentRig().call('ADD', { conf: { cniVersion } });

    expect(printed(answer)).toMatchObject({ cniVersion: '0.1.0', ip4: {} });
  });

  test('fails at once on a full block of a node whose blocks never grow', async () => {
    const rig = new AgentRig({ blocks: ['10.0.0.0/30'] });
    await rig.call('ADD');

    expect(await refusal(rig, 'ADD', { env: { CNI_CONTAINERID: 'c2' } })).toMatchObject({
      code: 11,
      msg: 'range is full',
    });
    expect(rig.clock.monotonic()).toBe(0);
  });

  test('fails with nothing half held when the record cannot be written', async () => {
    const rig = new AgentRig(both);
    rig.recordProblem = 'no space left on device';

    expect(await refusal(rig, 'ADD')).toMatchObject({ code: 11, msg: 'no space left on device' });
    expect(rig.held).toEqual([]);
  });
});

describe('an ADD that waits', () => {
  const waiting = (): AgentRig => {
    const rig = new AgentRig({ blocks: [], mayGrow: true });
    rig.waitingFor = 'podCIDRs of the Node one';
    return rig;
  };

  test('is served as soon as the block comes', async () => {
    const rig = waiting();
    const answer = rig.call('ADD');
    await rig.clock.advance(500);

    rig.ipam.serve(blockOf('10.0.0.0/24'));

    expect(await answer).toMatchObject({ exit: 0 });
    expect(rig.held).toHaveLength(1);
  });

  test.each([
    [undefined, 10_000],
    ['2s', 2000],
    ['0s', 0],
  ])('for %s fails after that time, and says for what it waits', async (wait, time) => {
    const rig = waiting();
    let code: unknown;
    const answer = refusal(rig, 'ADD', { ipam: { ...(wait !== undefined && { wait }) } }).then(
      (found) => (code = found),
    );
    if (time > 0) {
      await rig.clock.advance(time - 1);
      expect(code).toBeUndefined();
    }
    await rig.clock.advance(1);

    await answer;
    expect(code).toEqual({
      code: 11,
      msg: 'no family has a block yet: waiting for podCIDRs of the Node one',
      cniVersion: '1.1.0',
    });
  });

  test('of a container that holds an address is answered once the network of it is known', async () => {
    const before = new AgentRig();
    const first = await before.call('ADD');
    const rig = new AgentRig({ blocks: [], mayGrow: true, holdings: before.ipam.holdings });
    const again = rig.call('ADD');
    await rig.clock.advance(500);

    rig.ipam.serve(blockOf('10.0.0.0/24'));

    expect(await again).toEqual(first);
  });

  test('says at its end for what the agent waits then', async () => {
    const rig = waiting();
    const answer = refusal(rig, 'ADD');
    await rig.clock.advance(100);

    rig.waitingFor = 'a Node that nobody may read';
    await rig.clock.advance(10_000);

    expect(await answer).toMatchObject({ msg: expect.stringContaining('a Node that nobody may read') });
  });

  test('ends with a DEL of its attachment, and holds nothing later', async () => {
    const rig = waiting();
    const answer = refusal(rig, 'ADD');
    await rig.clock.advance(100);

    expect(await rig.call('DEL')).toMatchObject({ exit: 0 });

    expect(await answer).toMatchObject({ code: 11 });
    rig.ipam.serve(blockOf('10.0.0.0/24'));
    await rig.clock.advance(60_000);
    expect(rig.held).toEqual([]);
  });

  test('ends with a DEL that comes in the same turn as the block, and holds nothing later', async () => {
    const rig = waiting();
    const answer = refusal(rig, 'ADD');
    await rig.clock.advance(100);

    rig.ipam.serve(blockOf('10.0.0.0/24'));
    await rig.call('DEL');

    expect(await answer).toMatchObject({ code: 11 });
    expect(rig.held).toEqual([]);
  });

  test('ends when its requester is gone, or the agent stops', async () => {
    const rig = waiting();
    const gone = new AbortController();
    const answer = refusal(rig, 'ADD', { signal: gone.signal });
    await rig.clock.advance(100);

    gone.abort();

    expect(await answer).toMatchObject({ code: 11 });
  });
});

describe('DEL', () => {
  test('releases what the attachment holds, twice without harm, and without a namespace', async () => {
    const rig = new AgentRig(both);
    await rig.call('ADD');

    for (const _ of [1, 2])
      expect(await rig.call('DEL', { env: { CNI_NETNS: '' } })).toEqual({ exit: 0, out: '' });

    expect(rig.held).toEqual([]);
  });

  test.each([
    ['another interface', { env: { CNI_IFNAME: 'eth1' } }],
    ['another container', { env: { CNI_CONTAINERID: 'c2' } }],
    ['another network', { conf: { name: 'other' } }],
    [
      'an earlier pod with the same address in prevResult',
      { env: { CNI_CONTAINERID: 'c0' }, conf: { prevResult: { ips: [{ address: '10.0.0.7/24' }] } } },
    ],
  ] as const)('of %s leaves the attachment what it holds', async (_, options) => {
    const rig = new AgentRig();
    await rig.call('ADD', { env: { CNI_ARGS: 'IP=10.0.0.7' } });

    expect(await rig.call('DEL', options)).toEqual({ exit: 0, out: '' });

    expect(rig.held).toEqual(['10.0.0.7']);
  });

  test('fails, to be repeated, when the record cannot be written', async () => {
    const rig = new AgentRig();
    await rig.call('ADD');
    rig.recordProblem = 'no space left on device';

    expect(await refusal(rig, 'DEL')).toMatchObject({ code: 11 });
    expect(rig.held).toHaveLength(1);
  });
});

describe('CHECK', () => {
  const shown = (...ips: readonly string[]) => ({ prevResult: { ips: ips.map((address) => ({ address })) } });

  test.each([
    ['exactly the addresses', 'c1', shown('fd00::7/120', '10.0.0.7/24'), undefined],
    ['fewer addresses', 'c1', shown('10.0.0.7/24'), 101],
    ['another address', 'c1', shown('10.0.0.8/24', 'fd00::7/120'), 101],
    ['no prevResult', 'c1', {}, 7],
    ['a container that is unknown', 'c2', shown('10.0.0.7/24'), 3],
  ])('of %s', async (_, container, conf, code) => {
    const rig = new AgentRig(both);
    await rig.call('ADD', { conf: { runtimeConfig: { ips: ['10.0.0.7', 'fd00::7'] } } });

    const answer = await rig.call('CHECK', { conf, env: { CNI_CONTAINERID: container } });

    expect(answer.exit).toBe(code === undefined ? 0 : 1);
    expect(answer.out === '' ? undefined : printed(answer)['code']).toBe(code);
  });
});

describe('STATUS', () => {
  test.each<[string, readonly string[], object, string | undefined]>([
    ['there is room', ['10.0.0.0/30'], {}, undefined],
    ['the block is full', ['10.0.0.0/30'], {}, 'no ipv4 address is free: '],
    ['one of two families is full', ['10.0.0.0/30', 'fd00::/64'], {}, 'no ipv4 address is free: '],
    ['the full family is not wanted', ['10.0.0.0/30', 'fd00::/64'], { families: ['ipv6'] }, undefined],
    ['a family has no block', ['10.0.0.0/24'], { families: ['ipv6'] }, 'no ipv6 addresses in the pool'],
    ['there is no block', [], {}, 'no family has a block yet: waiting for a range'],
    ['there is no such pool', ['10.0.0.0/24'], { pool: 'blue' }, 'there is no pool "blue"'],
    ['a family is disabled', ['10.0.0.0/24', 'fd00::/64'], { families: ['ipv6'] }, 'no ipv6 addresses'],
    ['the record is being rebuilt', ['10.0.0.0/24'], {}, 'not ready: waiting for a range'],
  ])('when %s', async (state, blocks, ipam, msg) => {
    const enabled = { ipv4: undefined, ipv6: state.includes('disabled') ? false : undefined };
    const rig = new AgentRig({ blocks, enabled });
    rig.waitingFor = 'a range';
    if (state.includes('full')) rig.ipam.allocate({ owner: 'x', families: ['ipv4'] });
    if (state.includes('rebuilt')) rig.ipam.holdings.apply({ rebuilding: true });

    const answer = await rig.call('STATUS', { ipam });

    if (msg === undefined) expect(answer).toEqual({ exit: 0, out: '' });
    else expect(printed(answer)).toMatchObject({ code: 50, msg: expect.stringContaining(msg) });
  });
});

describe('a verb', () => {
  test.each([
    ['CHECK', '0.3.1'],
    ['GC', '1.0.0'],
    ['STATUS', '0.4.0'],
  ])('%s is refused by a network of version %s, which has none', async (verb, cniVersion) => {
    expect(await refusal(new AgentRig(), verb, { conf: { cniVersion } })).toEqual({
      code: 1,
      msg: `CNI ${cniVersion} has no ${verb}`,
      cniVersion,
    });
  });

  test('that is none is refused', async () => {
    expect(await refusal(new AgentRig(), 'PUT')).toMatchObject({
      code: 4,
      msg: 'CNI_COMMAND "PUT" is no verb',
    });
  });

  test('is counted with its code', async () => {
    const rig = new AgentRig();
    await rig.call('ADD');
    await rig.call('ADD', { env: { CNI_IFNAME: '' } });
    await rig.call('PUT');

    expect(rig.figures).toEqual(['ADD 0', 'ADD 4', 'none 4']);
  });
});
