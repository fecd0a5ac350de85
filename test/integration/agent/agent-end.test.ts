// An agent that ends by a bug ends as a whole, so that whatever started it can start another.
import { beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentDeps, runAgent } from '../../../src/agent/agent.ts';
import type { Cidr } from '../../../src/blocks/set/cidr.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import { createAgentMetricRegistry } from '../../../src/observability/metrics.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'headwater-agent-end-'));
});
afterAll(() => rmSync(place, { recursive: true }));

function depsOf(socketPath: string, clock: Clock): Omit<AgentDeps, 'log'> {
  return {
    settings: {
      mode: 'cluster-pool',
      nodeName: 'one',
      socketPath,
      stateDir: `${socketPath}.state`,
      bootIdFile: '/proc/sys/kernel/random/boot_id',
      enabled: { ipv4: undefined, ipv6: undefined },
      ranges: [],
      dnsDirectories: [],
      excluded: [],
      createsCiliumNode: true,
      ciliumNodeSpec: undefined,
      protocol: 'used',
      updateRate: 15_000,
      defaultPool: 'default',
      preAllocation: new Map(),
      masqueradesDefaultOnly: false,
      cooldown: 30_000,
      expiration: 600_000,
    },
    clock,
    random: new Random('agent'),
    registry: createAgentMetricRegistry({ measureProcess: false }),
    kubernetes: undefined,
    machine: {
      readFile: () => '',
      readDnsFile: () => Promise.resolve(''),
      sandboxes: () => [],
    },
  };
}

describe('an agent that finds a bug while it serves', () => {
  test('rejects when its watch has ended and nobody listens on its socket', async () => {
    const { transport } = new EmbeddedApi(systemClock);
    const watches: AbortSignal[] = [];
    const broken: KubernetesTransport = {
      send: (request, signal) => {
        if (request.path === '/api/v1/nodes/one') throw new TypeError('a bug');
        return transport.send(request, signal);
      },
      stream: (request, signal) => {
        watches.push(signal);
        return transport.stream(request, signal);
      },
    };
    const socketPath = join(place, 'bug.sock');
    const log = recordingLogger();

    const ended = runAgent(
      { ...depsOf(socketPath, systemClock), log, kubernetes: broken },
      new AbortController().signal,
    );

    await expect(ended).rejects.toThrow('a bug');
    expect(log.lines.map(({ message }) => message)).toContain('serving');
    expect(existsSync(socketPath)).toBe(false);
    expect(watches.map((signal) => signal.aborted)).not.toContain(false);
  });
});

describe('an agent that serves', () => {
  test.each([
    ['socket', (socket: string) => rmSync(socket), /^the socket .* was removed$/],
    [
      'state directory',
      (socket: string) => rmSync(`${socket}.state`, { recursive: true }),
      /journal was removed: what is held is in a new one$/,
    ],
  ])('ends within a minute after its %s was removed, and says so', async (what, lose, problem) => {
    const clock = new VirtualClock();
    const log = recordingLogger();
    const socketPath = join(place, `${what}.sock`);
    const deps = depsOf(socketPath, clock);
    const range: Cidr = { family: 'ipv4', base: 0x0a00_0000n, length: 24 };
    const settings = { ...deps.settings, mode: 'host-scope', ranges: [range] } as const;
    const ended = runAgent({ ...deps, settings, log }, new AbortController().signal);
    const said = (): readonly string[] => log.lines.map(({ message }) => message);
    while (!said().includes('serving')) await new Promise(setImmediate);

    lose(socketPath);
    await clock.advance(60_000);

    expect(await ended).toEqual({ kind: 'lost' });
    expect(log.lines.at(-1)).toMatchObject({
      level: 'error',
      message: 'a file of the agent is gone, exiting',
      details: { problem: expect.stringMatching(problem) },
    });
    expect(existsSync(socketPath)).toBe(false);
  });
});
