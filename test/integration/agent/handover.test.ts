// A controller that takes addresses from an agent by the handshake, while pods come and go, and the agent is killed.
import { describe, expect, test } from '@jest/globals';
import { type JsonObject, valueAt } from '../../../src/runtime/json.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

const path = '/apis/cilium.io/v2/ciliumnodes/one';
const shown = {
  eni: {
    enis: {
      e1: { id: 'e1', mac: 'm', subnet: { cidr: '10.0.0.0/24' }, vpc: { 'primary-cidr': '10.0.0.0/16' } },
    },
  },
};

class Scene {
  readonly clock = new VirtualClock();
  readonly api = new EmbeddedApi(this.clock);
  readonly random: Random;
  readonly machine: AgentMachine;
  /** What pods have, by container. */
  readonly held = new Map<string, string>();
  readonly released: string[] = [];

  constructor(seed: string) {
    this.random = new Random(seed);
    const flags = { ipam: 'eni', 'ipam-cilium-node-update-rate': '2s' };
    const connect = (): EmbeddedApi['transport'] => this.api.transport;
    this.machine = new AgentMachine({ clock: this.clock, random: this.random.fork('m'), flags, connect });
  }

  async setUp(): Promise<void> {
    await this.offer(
      Array.from({ length: 8 }, (_, at) => `10.0.0.${at + 10}`),
      true,
    );
    await this.api.patch('one', { status: shown }, '/status');
    this.machine.start();
    await this.clock.advance(500);
  }

  async offer(ips: readonly string[], isNew = false): Promise<void> {
    const pool = Object.fromEntries(ips.map((ip) => [ip, { resource: 'e1' }]));
    if (isNew) await this.api.create('one', { ipam: { pool } });
    else await this.api.patch('one', { spec: { ipam: { pool } } });
  }

  async states(): Promise<Readonly<Record<string, string>>> {
    const node = await this.api.kubectl('GET', path);
    return (valueAt(node, 'status', 'ipam', 'release-ips') ?? {}) as Record<string, string>;
  }

  setStates(states: JsonObject): Promise<JsonObject> {
    return this.api.patch('one', { status: { ipam: { 'release-ips': states } } }, '/status');
  }

  call(verb: string, container: string): Promise<PluginAnswer> {
    return callPlugin(this.machine, { verb, container, ipam: { wait: '0s' } });
  }

  /** One step of pods, of the controller, or of fate. */
  async step(): Promise<void> {
    const container = `c${this.random.integer(6)}`;
    const steps = [
      async () => {
        const { ip } = await this.call('ADD', container);
        if (ip !== undefined) this.held.set(container, ip);
      },
      async () => {
        if ((await this.call('DEL', container)).exit !== undefined) this.held.delete(container);
      },
      async () =>
        void (await this.setStates({ [`10.0.0.${10 + this.random.integer(8)}`]: 'marked-for-release' })),
      () => this.takeReady(),
      () => this.takeReady(),
      () => {
        this.machine.kill();
        this.machine.start();
        return this.clock.advance(1);
      },
      () => this.clock.advance(this.random.integer(3000)),
      () => this.clock.advance(this.random.integer(30)),
    ];
    await this.random.pick(steps)();
  }

  /** Releases what the agent agreed to, and offers it again in another round of its life. */
  async takeReady(): Promise<void> {
    for (const [ip, state] of Object.entries(await this.states())) {
      if (state === 'do-not-release') await this.setStates({ [ip]: null });
      if (state !== 'ready-for-release') continue;
      expect([...this.held.values()]).not.toContain(ip);
      this.released.push(ip);
      await this.api.patch('one', { spec: { ipam: { pool: { [ip]: null } } } });
      await this.setStates({ [ip]: 'released' });
    }
    const states = await this.states();
    const again = this.released.filter((ip) => states[ip] === undefined);
    if (again.length > 0 && this.random.chance(0.5)) await this.offer([...new Set(again)]);
  }
}

describe('an address that the agent agreed to release', () => {
  test.each(['1', '2', '3'])('is of no pod, whatever happens: seed %s', async (seed) => {
    const scene = new Scene(seed);
    await scene.setUp();
    for (let each = 0; each < 250; each++) {
      await scene.step();
      const ips = [...scene.held.values()];
      expect(new Set(ips).size).toBe(ips.length);
    }
    await scene.clock.advance(10_000);
    const node = await scene.api.kubectl('GET', path);
    const used = Object.keys((valueAt(node, 'status', 'ipam', 'used') ?? {}) as JsonObject);

    expect(used).toEqual(expect.arrayContaining([...scene.held.values()]));
    expect(scene.released.length).toBeGreaterThan(0);
    expect(scene.machine.bugs).toEqual([]);
    scene.machine.remove();
  });
});
