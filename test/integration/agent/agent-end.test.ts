// An agent that ends by a bug ends as a whole, so that whatever started it can start another.
import { beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../../../src/agent/agent.ts';
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
    const socketPath = join(place, 'agent.sock');
    const log = recordingLogger();

    const ended = runAgent(
      {
        settings: {
          mode: 'cluster-pool',
          nodeName: 'one',
          socketPath,
          stateDir: join(place, 'state'),
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
        clock: systemClock,
        random: new Random('agent'),
        log,
        registry: createAgentMetricRegistry({ measureProcess: false }),
        kubernetes: broken,
        machine: {
          readFile: () => '',
          readDnsFile: () => Promise.resolve(''),
          sandboxes: () => [],
        },
      },
      new AbortController().signal,
    );

    await expect(ended).rejects.toThrow('a bug');
    expect(log.lines.map(({ message }) => message)).toContain('serving');
    expect(existsSync(socketPath)).toBe(false);
    expect(watches.map((signal) => signal.aborted)).not.toContain(false);
  });
});
