// An agent with ipam=eni and IPv6, in virtual time. What a controller writes is written here.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type JsonObject, textAt, valueAt } from '../../../src/runtime/json.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { ciliumNodes, EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

const prefix = '2600:1f14:1:1:a::/80';
const other = '2600:1f14:1:1:b::/80';
const addresses = Array.from({ length: 9 }, (_, index) => `10.0.1.${index + 1}`);
const singles = addresses.map((address) => `${address}/32`);

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;

beforeEach(async () => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock);
  machine = new AgentMachine({
    clock,
    random: new Random('machine'),
    flags: { ipam: 'eni', 'enable-ipv6': 'true', 'cilium-node-protocol': 'pools', 'node-name': 'one' },
    connect: () => api.transport,
  });
  await api.create('one', { 'instance-id': 'i-1' });
  machine.start();
  await clock.advance(1000);
});
afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

const ipv6 = (...prefixes: readonly string[]): JsonObject => ({ addresses, 'ipv6-prefixes': prefixes });

async function show(enis: JsonObject): Promise<void> {
  await api.patch('one', { status: { eni: null } }, '/status');
  await api.patch('one', { status: { eni: { enis } } }, '/status');
  await clock.advance(60_000);
}

const eni = (more: JsonObject): JsonObject => ({
  id: 'eni-1',
  mac: '02:00:00:00:00:01',
  number: 1,
  subnet: { id: 'subnet-1', cidr: '10.0.0.0/20' },
  vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16' },
  ...more,
});

function call(verb: string, container: string): Promise<PluginAnswer> {
  return callPlugin(machine, { verb, container, ipam: { wait: '0s' } });
}

function pools(): unknown {
  return valueAt(api.model.get(ciliumNodes, 'one'), 'spec', 'ipam', 'pools');
}

async function rest(method: string, path: string, query = ''): Promise<JsonObject> {
  const request = { method, path, query: new URLSearchParams(query), headers: {}, body: '' };
  const answer = await machine.call(request, new AbortController().signal);
  return JSON.parse(answer?.body ?? '{}') as JsonObject;
}

describe('an agent with ipam=eni and IPv6', () => {
  test('asks for addresses of both families before any is there', () => {
    expect(pools()).toEqual({
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': 8, 'ipv6-addrs': 8 } }],
    });
  });

  test('holds the prefix, lists it after the addresses of IPv4, and gives each pod an address of each family', async () => {
    await show({ 'eni-1': eni(ipv6(prefix)) });

    const added = await call('ADD', 'c1');
    await clock.advance(60_000);

    expect(added.addresses).toEqual([
      expect.stringMatching(/^10\.0\.1\.\d\/20$/),
      expect.stringMatching(/^2600:1f14:1:1:a:[\da-f:]+\/80$/),
    ]);
    // The pod's side has one route to each of them: both are in its networks, and neither is of a pod.
    expect(added.gateways).toEqual(['10.0.0.1', '2600:1f14:1:1:a::']);
    expect(pools()).toEqual({
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': 9, 'ipv6-addrs': 9 } }],
      allocated: [{ pool: 'default', cidrs: [...singles, prefix] }],
    });
  });

  test('names the router of the VPC, and no network of IPv4, to a REST client that gets an IPv6 address', async () => {
    await show({ 'eni-1': eni(ipv6(prefix)) });

    const answer = await rest('POST', '/v1/ipam', 'owner=a/b');

    expect(valueAt(answer, 'ipv4')).toMatchObject({ gateway: '10.0.0.1', cidrs: ['10.0.0.0/16'] });
    expect(valueAt(answer, 'ipv6')).toEqual({
      ip: textAt(answer, 'address', 'ipv6'),
      gateway: 'fe80:ec2::1',
      'master-mac': '02:00:00:00:00:01',
      'interface-number': '1',
    });
  });

  test.each<readonly [string, JsonObject]>([
    ['of IPv4', { 'ipv6-prefixes': [prefix] }],
    ['of IPv6', { addresses }],
    ['of IPv6, because the interface is excluded,', { ...ipv6(prefix), number: 0 }],
  ])('serves no pod while addresses %s are missing, and all once they are there', async (_, lacking) => {
    await api.patch('one', { spec: { eni: { 'first-interface-index': 1 } } });
    await show({ 'eni-1': eni(lacking) });
    const before = await call('ADD', 'c1');

    await show({ 'eni-1': eni(ipv6(prefix)) });

    expect(before.exit).not.toBe('0');
    expect((await call('ADD', 'c1')).addresses).toHaveLength(2);
  });

  test('keeps a prefix in use that leaves the status, lists it, and gives nothing new of it', async () => {
    await show({ 'eni-1': eni(ipv6(prefix)) });
    const first = await call('ADD', 'c1');

    await show({ 'eni-1': eni(ipv6(other)) });
    const second = await call('ADD', 'c2');
    await clock.advance(60_000);

    expect(second.addresses[1]).toMatch(/^2600:1f14:1:1:b:/);
    expect(first.addresses[1]).toMatch(/^2600:1f14:1:1:a:/);
    expect(await call('ADD', 'c1')).toEqual(first);
    expect(pools()).toMatchObject({
      allocated: [{ cidrs: expect.arrayContaining([prefix, other]) as unknown }],
    });
  });

  test('has the same addresses for a pod after a restart', async () => {
    await show({ 'eni-1': eni(ipv6(prefix)) });
    const before = await call('ADD', 'c1');

    machine.kill();
    machine.start();
    await clock.advance(1000);

    expect(await call('ADD', 'c1')).toEqual(before);
    await call('DEL', 'c1');
    await clock.advance(120_000);
    expect(pools()).toMatchObject({ requested: [{ needed: { 'ipv4-addrs': 8, 'ipv6-addrs': 8 } }] });
  });
});
