// How late the API server shows pods, as an agent measures it, in virtual time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin } from './plugin-call.ts';

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;

beforeEach(async () => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock);
  const flags = { ipam: 'cluster-pool' };
  machine = new AgentMachine({ clock, random: new Random('lag'), flags, connect: () => api.transport });
  await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/24'] } });
  await createPod('first');
  machine.start();
  await clock.advance(1000);
});
afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

async function createPod(name: string): Promise<void> {
  await api.kubectl('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }] },
  });
}

async function add(name: string): Promise<void> {
  const args = `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`;
  expect((await callPlugin(machine, { verb: 'ADD', container: name, args })).exit).toBe('0');
}

async function lag(): Promise<string | undefined> {
  const request = { method: 'GET', path: '/metrics', query: new URLSearchParams(), headers: {}, body: '' };
  const answer = await machine.call(request, new AbortController().signal);
  return /^cilium_k8s_event_lag_seconds\{source="k8s"\} (.*)$/m.exec(answer?.body ?? '')?.[1];
}

describe('the lag of events', () => {
  test('is how long a new pod had its address when it was shown', async () => {
    await add('late');
    await clock.advance(3000);
    await createPod('late');
    await clock.advance(100);

    expect(Number(await lag())).toBeGreaterThanOrEqual(3);
    expect(Number(await lag())).toBeLessThan(3.2);
  });

  test('is 0 for a pod that was shown before its ADD, and with a clock that was set back', async () => {
    await createPod('early');
    await clock.advance(100);
    expect(await lag()).toBe('0');
    await add('early');
    await add('back');
    machine.shiftWall(-3_600_000);
    await createPod('back');
    await clock.advance(100);

    expect(await lag()).toBe('0');
  });

  test('does not count pods that were there before the agent', async () => {
    await add('first');
    await clock.advance(60_000);
    machine.kill();
    machine.start();
    await clock.advance(1000);

    expect(await lag()).toBe('0');
  });
});
