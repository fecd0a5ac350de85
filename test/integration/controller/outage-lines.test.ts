import { describe, expect, test } from '@jest/globals';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const minute = 60_000;

interface Line {
  readonly level: string;
  readonly message: string;
}

/** Lines about reads that people see. */
function readLines(lines: readonly Line[]): readonly string[] {
  return lines
    .filter(({ level, message }) => level !== 'debug' && /Kubernetes/.test(message))
    .map(({ level, message }) => `${level} ${message}`);
}

const once = ['warn cannot read from Kubernetes for now', 'info reading from Kubernetes again'];

describe('an outage of the API server', () => {
  test('is told once by a controller of addresses, and so is its end', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance()] }) });
    const controller = startController(world);
    await world.announce(world.machine());
    await world.advance(minute);
    const isBack = world.refuse(503, 'GET', /\/(pods|nodes|ciliumnodes)\b/);
    world.cluster.kubernetes.faults.closeWatches(/watch/);
    await world.advance(3 * minute);
    isBack();
    await world.advance(2 * minute);

    expect(readLines(controller.logged)).toEqual(once);
  });

  test.each([
    ['run', { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16' }],
    ['run', { ipam: 'multi-pool' }],
    ['nodeipam', { 'cluster-cidr': '10.0.0.0/16' }],
  ] as const)('is told once by %s of blocks, with %j', async (command, flags) => {
    let isDown = false;
    const registry = createMetricRegistry({ measureProcess: false });
    const world = new BlockWorld({
      seed: 'outage',
      command,
      flags,
      registry,
      intercept: (_, handler) => (request, signal) =>
        isDown && request.method === 'GET'
          ? Promise.resolve({ status: 503, headers: {}, body: '' })
          : handler(request, signal),
    });
    const { log } = world.startReplica();
    world.join('a');
    await world.clock.advance(minute);
    isDown = true;
    world.model.faults.closeWatches(/watch/);
    await world.clock.advance(3 * minute);
    isDown = false;
    await world.clock.advance(2 * minute);

    expect(readLines(log.lines)).toEqual(once);
  });
});
