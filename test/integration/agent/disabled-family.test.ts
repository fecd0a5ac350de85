// A family that is switched off, where Kubernetes or an option shows addresses of it, in virtual time.
import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin } from './plugin-call.ts';

const request = (method: string, path: string) => ({
  method,
  path,
  query: new URLSearchParams(),
  headers: {},
  body: '',
});
const never = new AbortController().signal;

describe('with --enable-ipv6=false', () => {
  test.each<readonly [string, object, Readonly<Record<string, string>>]>([
    ['cluster-pool', { podCIDRs: ['10.0.0.0/24', 'fd00::/112'] }, {}],
    ['cluster-pool', { podCIDRs: ['10.0.0.0/24'] }, { 'ipv6-range': 'fd00::/112' }],
    ['crd', { pool: { '10.0.0.7': {} }, 'ipv6-pool': { 'fd00::7': {} } }, {}],
  ])('%s serves none of %j and %j', async (mode, ipam, ranges) => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    const machine = new AgentMachine({
      clock,
      random: new Random('m'),
      flags: { ipam: mode, 'enable-ipv6': 'false', ...ranges },
      connect: () => api.transport,
    });
    await api.create('one', { ipam: JSON.parse(JSON.stringify(ipam)) as never });
    machine.start();
    await clock.advance(1000);

    const settings = { wait: '0s', prefixLength: 'host' };
    const added = await callPlugin(machine, { verb: 'ADD', container: 'c1', ipam: settings });
    const fixed = await machine.call(request('POST', '/v1/ipam/fd00::7'), never);
    const shown = await machine.call(request('GET', '/v1/ipam'), never);

    expect(added.addresses).toEqual([expect.stringMatching(/^10\./)]);
    expect(fixed?.status).toBe(500);
    expect(shown?.body).not.toContain('fd00');
    expect(machine.bugs).toEqual([]);
    machine.remove();
  });
});
