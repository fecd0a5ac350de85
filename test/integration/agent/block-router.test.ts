// The gateway of a block that changes while pods live, in virtual time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin } from './plugin-call.ts';

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;

beforeEach(() => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock);
  const flags = { ipam: 'cluster-pool' };
  machine = new AgentMachine({ clock, random: new Random('m'), flags, connect: () => api.transport });
});

afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

const show = (...podCIDRs: readonly string[]): Promise<unknown> =>
  api.patch('one', { spec: { ipam: { podCIDRs } } });

/** The pod's address and what else it is told. */
async function add(container: string, ip?: string): Promise<string> {
  const args = ip === undefined ? '' : `IP=${ip}`;
  const { addresses, message } = await callPlugin(machine, {
    verb: 'ADD',
    container,
    args,
    ipam: { wait: '0s' },
  });
  return addresses[0] ?? message ?? '';
}

async function gateway(container: string): Promise<string> {
  const { gateways } = await callPlugin(machine, { verb: 'ADD', container, ipam: { wait: '0s' } });
  return gateways[0] ?? '';
}

async function restart(): Promise<void> {
  machine.kill();
  machine.start();
  await clock.advance(1000);
}

describe('a block that changes to one that overlaps it', () => {
  test('takes no gateway from a living pod, and keeps the one it took over restarts', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/24'] } });
    machine.start();
    await clock.advance(1000);
    expect(await add('c1', '10.0.0.129')).toBe('10.0.0.129/24');

    await show('10.0.0.128/25');
    await clock.advance(1000);
    await add('c2');

    expect(await gateway('c2')).toBe('10.0.0.130');
    await callPlugin(machine, { verb: 'DEL', container: 'c1' });
    await restart();
    expect(await gateway('c2')).toBe('10.0.0.130');
    expect(await add('c3', '10.0.0.130')).toContain('10.0.0.130 is excluded, owned by router');
    expect(await add('c4', '10.0.0.129')).toBe('10.0.0.129/25');
  });

  test('gives nobody the gateway that pods of the earlier one have, also after a restart', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.0.1.0/24'] } });
    machine.start();
    await clock.advance(1000);
    await add('c1');

    await show('10.0.0.0/23');
    await clock.advance(1000);

    expect(await add('c2', '10.0.1.1')).toContain('10.0.1.1 is excluded, owned by router');
    await restart();
    expect(await add('c2', '10.0.1.1')).toContain('10.0.1.1 is excluded, owned by router');
  });

  test('waits while pods hold all of it', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/24'] } });
    machine.start();
    await clock.advance(1000);
    for (const last of [129, 130]) await add(`c${last}`, `10.0.0.${last}`);

    await show('10.0.0.128/30');
    await clock.advance(1000);

    expect(await add('other', '10.0.0.7')).toBe('10.0.0.7/24');
    expect(machine.warnings).toContainEqual(expect.stringContaining('10.0.0.128/30 waits until a pod'));
    await callPlugin(machine, { verb: 'DEL', container: 'c129' });
    expect(await add('next')).toContain('range is full');
    await callPlugin(machine, { verb: 'DEL', container: 'c130' });
    await add('last');
    expect(await gateway('last')).toBe('10.0.0.129');
  });

  test('takes no gateway from a pod whose address a damaged record has lost', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/23'] } });
    await api.kubectl('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }] },
    });
    const status = { phase: 'Running', podIPs: [{ ip: '10.0.1.1' }] };
    await api.kubectl('PATCH', '/api/v1/namespaces/default/pods/p/status', { status });
    machine.start();
    await clock.advance(1000);
    expect(await add('c1', '10.0.1.1')).toBe('10.0.1.1/23');
    await show('10.0.1.0/24');
    await clock.advance(1000);
    await add('c2');
    expect(await gateway('c2')).toBe('10.0.1.2');

    machine.damage();
    machine.start();
    await clock.advance(5000);

    expect(await add('c3')).toContain('/24');
    expect(await gateway('c3')).toBe('10.0.1.2');
  });
});
