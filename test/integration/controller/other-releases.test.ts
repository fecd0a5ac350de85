// A dry run beside another release of the cluster goes live: what the other one serves is known before anything is done.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import { LabelledWorld } from '../../support/labelled-world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const processEnvironment = { ...thisProcess, environment: {} };
/** A list of Leases, not the read of one. */
const leases = /leases(\?|$)/;

let config: MountedConfig;

beforeEach(() => {
  config = mountedConfig();
  config.mount({ 'dry-run': 'true' });
});

afterEach(() => {
  config.remove();
});

/** A release with a Lease of that name. Its options are live if `isLive`, else those of `config`. */
function start(world: LabelledWorld, name: string, selector: string, isLive: boolean): WorldController {
  return startController(world, {
    identity: `headwater-${name}`,
    flags: {
      'leader-election-lease-name': name,
      ...(selector !== '' && { 'node-selector': selector }),
      ...(!isLive && { 'config-dir': config.path }),
    },
    ...(!isLive && { processEnvironment }),
  });
}

/** Writes and changes for that machine. */
function touches({ writes, changes }: WorldController, world: LabelledWorld, index: number): number {
  const { name, instanceId } = world.machine(index);
  return (
    writes.filter(({ path }) => path.includes(name)).length +
    changes.filter(({ input }) => JSON.stringify(input).includes(instanceId)).length
  );
}

async function annotationsOf(world: LabelledWorld, name: string): Promise<JsonObject> {
  const lease = await world.call('GET', `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`);
  return objectAt(lease, 'metadata', 'annotations');
}

describe('a dry run that goes live beside another release', () => {
  test('leaves at once what an older one chooses, too, and serves the rest', async () => {
    const world = new LabelledWorld(2);
    const older = start(world, 'one', 'network=eni', true);
    await world.join(0, 'eni');
    await world.join(1, 'other');
    await world.advance(60_000);
    const ending = start(world, 'two', 'network', false);
    await world.advance(61_000);
    older.kill();
    await world.request(world.machine(), 20);

    config.mount({});
    await world.until('it serves its own', () => world.pool(world.machine(1)).size === 8, 30_000);
    await world.advance(180_000);

    expect(touches(ending, world, 0)).toBe(0);
    expect(ending.controller.status().overlaps).toMatchObject([{ node: world.machine().name, lease: 'one' }]);
  });

  test('waits until a younger one has left what both choose', async () => {
    const world = new LabelledWorld(2);
    const machine = world.machine(1);
    const ending = start(world, 'one', 'network', false);
    await world.advance(30_000);
    const younger = start(world, 'two', 'network=blocks', true);
    await world.join(0, 'eni');
    await world.join(1, 'blocks');
    await world.until('the younger one serves its own', () => world.pool(machine).size === 8);
    younger.kill();
    await world.request(machine, 20);
    config.mount({});
    await world.until('the dry run has ended', () => ending.controller.status().paused.length === 0, 20_000);
    await world.advance(60_000);
    const before = touches(ending, world, 1);
    await world.advance(120_000);

    expect(before).toBe(0);
    expect(touches(ending, world, 1)).toBeGreaterThan(0);
    expect(world.pool(machine).size).toBe(20);
    expect(world.broken()).toEqual([]);
  });

  test('without a selector ends before it does anything, and says why', async () => {
    const world = new LabelledWorld(1);
    start(world, 'one', 'network=eni', true);
    await world.join(0, 'eni');
    await world.advance(60_000);
    const ending = start(world, 'two', '', false);
    await world.advance(60_000);
    await world.request(world.machine(), 20);

    config.mount({});
    await world.advance(60_000);

    expect(await ending.outcome).toBe('lost');
    expect(touches(ending, world, 0)).toBe(0);
    expect(ending.warnings()).toEqual([
      'another release serves nodes of this cluster, and this one has no node-selector',
    ]);
  });

  test('stays a dry run while Leases cannot be read, for a minute, or until it is one again', async () => {
    const world = new LabelledWorld(1);
    await world.join(0, 'eni');
    const ending = start(world, 'one', '', false);
    await world.advance(60_000);
    const answer = world.refuse(500, 'GET', leases);
    const isDry = (): boolean => ending.controller.status().paused.some(({ reason }) => reason === 'dryRun');
    const shown: boolean[] = [];

    config.mount({});
    await world.advance(40_000);
    shown.push(isDry());
    const announced = await annotationsOf(world, 'one');
    config.mount({ 'dry-run': 'true' });
    await world.advance(120_000);
    shown.push(isDry());
    const withdrawn = await annotationsOf(world, 'one');
    config.mount({});
    await world.advance(40_000);
    shown.push(isDry());
    const before = touches(ending, world, 0);
    await world.advance(60_000);
    shown.push(isDry());
    answer();

    expect(shown).toEqual([true, true, true, false]);
    expect(before).toBe(0);
    expect(announced).toMatchObject({ 'headwater/selects-ciliumnodes': '' });
    expect(withdrawn).not.toHaveProperty('headwater/selects-ciliumnodes');
    expect(world.pool(world.machine()).size).toBe(8);
  });
});

test('a release without a selector looks again soon after Leases could not be read, not only after ten minutes', async () => {
  const world = new LabelledWorld(1);
  await world.join(0, 'other');
  const older = start(world, 'one', 'network=eni', true);
  await world.advance(30_000);
  older.stop();
  await world.advance(30_000);
  const answer = world.refuse(500, 'GET', leases);
  const whole = start(world, 'two', '', true);
  await world.advance(180_000);
  start(world, 'one', 'network', true);
  await world.advance(30_000);
  const { state } = whole.controller.status();

  answer();
  await world.advance(61_000);

  expect(state).toBe('leading');
  expect(whole.controller.state).toBe('stopped');
  expect(await whole.outcome).toBe('lost');
});

describe('a release without a selector, while Nodes cannot be listed that an older one may choose', () => {
  /** Any list of Nodes, not one of CiliumNodes. */
  const nodes = /\/v1\/nodes(\?|$)/;

  /** A younger release starts, and its first lists of Leases are refused, too. */
  async function beginning(
    selector: string,
    code: number,
  ): Promise<{
    readonly world: LabelledWorld;
    readonly whole: WorldController;
    readonly answer: () => void;
  }> {
    const world = new LabelledWorld(1);
    start(world, 'one', selector, true);
    await world.join(0, 'eni');
    await world.advance(60_000);
    const answer = world.refuse(code, 'GET', nodes);
    const answerLeases = world.refuse(500, 'GET', leases);
    const whole = start(world, 'two', '', true);
    await world.advance(20_000);
    answerLeases();
    return { world, whole, answer };
  }

  test.each([500, 403])('with status %s, serves nothing, however long, and names that list', async (code) => {
    const { world, whole, answer } = await beginning('network=eni', code);
    await world.advance(180_000);
    const waits = [whole.controller.state, whole.controller.unreadiness(), touches(whole, world, 0)];
    answer();
    await world.advance(30_000);

    expect(waits).toEqual([
      'catchingUp',
      `it has the Lease and cannot list Nodes (status ${code}): refused by the test with ${code}`,
      0,
    ]);
    expect(whole.logged).toContainEqual(
      expect.objectContaining({
        message: 'cannot list Nodes: nothing is served before it is known which are its own',
        details: {
          problem: `cannot list Nodes (status ${code}): refused by the test with ${code}`,
          lease: 'one',
          nodeSelector: 'network=eni',
          remedy: 'let this release list Nodes, or delete the Lease one if that release is gone',
        },
      }),
    );
    expect(await whole.outcome).toBe('lost');
    expect(touches(whole, world, 0)).toBe(0);
  });

  test('serves them as soon as a list shows that none is chosen', async () => {
    const { world, whole, answer } = await beginning('network=other', 500);
    await world.advance(90_000);
    answer();
    await world.until('its node is served', () => world.pool(world.machine()).size === 8, 30_000);

    expect(whole.controller.unreadiness()).toBeUndefined();
  });

  test('goes on without them once the Lease of that release is deleted', async () => {
    const { world, whole } = await beginning('network=eni', 500);
    await world.advance(90_000);
    await world.call('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/one');
    await world.advance(30_000);

    expect(whole.controller.state).toBe('leading');
  });

  test('goes on if it leads, as before', async () => {
    const world = new LabelledWorld(1);
    await world.join(0, 'other');
    const older = start(world, 'one', 'network=eni', true);
    await world.advance(30_000);
    older.stop();
    await world.advance(30_000);
    const whole = start(world, 'two', '', true);
    await world.advance(60_000);
    const answer = world.refuse(500, 'GET', nodes);
    start(world, 'one', 'network', true);
    await world.advance(600_000);
    const { state } = whole.controller;
    answer();
    await world.advance(61_000);

    expect(state).toBe('leading');
    expect(await whole.outcome).toBe('lost');
  });
});
