import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

let config: MountedConfig;

beforeEach(() => {
  config = mountedConfig();
});

afterEach(() => {
  config.remove();
});

const processEnvironment = { ...thisProcess, environment: {} };

function start(world: World, flags: Readonly<Record<string, string>> = {}): WorldController {
  config.mount({});
  return startController(world, { flags: { 'config-dir': config.path, ...flags }, processEnvironment });
}

const dryRunDecision = ({ logged }: WorldController): readonly string[] =>
  logged.map(({ message }) => message).filter((message) => message.startsWith('dry run: '));

const besidesTheLease = ({ writes }: WorldController): readonly string[] =>
  writes.filter(({ path }) => !path.includes('/leases')).map(({ method, path }) => `${method} ${path}`);

describe('a dry run', () => {
  test('changes nothing but the Lease, and logs once what it would do', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
    const controller = start(world, { 'dry-run': 'true' });
    const [machine, tall, unknown] = world.machines;
    if (machine === undefined || tall === undefined || unknown === undefined)
      throw new Error('too few machines');

    await world.announce(machine);
    await world.announce(tall, { spec: { ipam: { 'min-allocate': 15 } } });
    await world.announce({ ...unknown, instanceType: 'odd.large' });
    await world.advance(900_000);

    expect(controller.changes).toEqual([]);
    expect(besidesTheLease(controller)).toEqual([]);
    expect(controller.writes.length).toBeGreaterThan(10);
    expect(world.events(unknown.name)).toEqual([]);
    // For each node the status, and the watermark that its agent left open.
    expect(dryRunDecision(controller).toSorted()).toEqual([
      'dry run: would assign addresses',
      'dry run: would assign addresses',
      'dry run: would attach new interface',
      ...Array.from({ length: 6 }, () => 'dry run: would write a CiliumNode'),
    ]);
    expect(controller.logged).toContainEqual({
      level: 'info',
      message: 'dry run: would assign addresses',
      details: {
        node: machine.name,
        subnet: 'subnet-0000000000000000a',
        addresses: 8,
        interface: world.interfaces(machine)[0]?.id,
      },
    });
    expect(controller.warnings()).toContain('node cannot be satisfied');
    expect(controller.controller.status().paused).toEqual([
      { reason: 'dryRun', activities: ['allocation', 'release', 'ciliumnode-writes', 'events'] },
    ]);
    expect(await controller.metric('headwater_mutations_paused{reason="dryRun"}')).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test('logs a decision again when it changes', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = start(world, { 'dry-run': 'true' });
    await world.announce(machine);
    await world.advance(60_000);
    const before = dryRunDecision(controller).length;

    await world.patch(machine, { spec: { ipam: { 'pre-allocate': 9 } } });
    await world.advance(60_000);
    await world.patch(machine, { metadata: { annotations: { a: 'b' } } });
    await world.advance(60_000);

    const later = controller.logged.filter(({ message }) => message.startsWith('dry run: ')).slice(before);
    expect(later.map(({ details }) => details['addresses'] ?? details['part'])).toEqual([9]);
  });

  test('logs everything again once it is turned off and on', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = start(world, { pause: 'mutations' });
    config.mount({ 'dry-run': 'true' });
    await world.announce(machine);
    await world.advance(60_000);
    const before = dryRunDecision(controller).length;

    config.mount({});
    await world.advance(20_000);
    const between = dryRunDecision(controller).length;
    config.mount({ 'dry-run': 'true' });
    await world.advance(60_000);

    expect(before).toBeGreaterThan(0);
    expect(between).toBe(before);
    expect(dryRunDecision(controller).slice(before)).toContain('dry run: would assign addresses');
  });

  test('takes no change of its own for one of another program after it was live for a moment', async () => {
    const world = new World();
    const controller = start(world);
    config.mount({ 'dry-run': 'true' });
    await world.advance(20_000);
    await world.announce(world.machine());
    await world.advance(120_000);
    const sums = (): number => controller.logged.filter(({ message }) => message.startsWith('sum of')).length;
    const before = sums();
    while (sums() === before) await world.advance(1000);
    for (const isDry of ['false', 'true']) {
      config.mount({ 'dry-run': isDry });
      await world.advance(15_000);
    }
    expect(controller.changes).toHaveLength(1);
    expect(sums()).toBe(before + 1);

    await world.advance(300_000);
    expect(controller.controller.status().dryRun).toMatchObject({ same: 0, otherwise: 0 });
  });

  test('supplies every node once it is turned off in the directory, and stops all changes once it is turned on', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = start(world);
    config.mount({ 'dry-run': 'true' });
    await world.advance(20_000);
    await world.announce(machine);
    await world.advance(60_000);
    const during = controller.changes.length;

    config.mount({});
    await world.advance(20_000);
    const supplied = world.pool(machine).size;
    config.mount({ 'dry-run': 'true' });
    await world.advance(10_000);
    const since = world.clock.monotonic();
    await world.request(machine, 20);
    await world.advance(300_000);

    expect(during).toBe(0);
    expect(supplied).toBe(8);
    expect(controller.changes.filter(({ at }) => at > since)).toEqual([]);
    expect(controller.publications.filter(({ at }) => at > since)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('says in a CiliumNode why it is not served once it ends', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 1 })] }) });
    const machine = world.machine();
    const twin = { ...machine, name: 'twin' };
    const errors = (): readonly string[] => [machine, twin].map((each) => world.operatorError(each) ?? '');
    start(world);
    config.mount({ 'dry-run': 'true' });
    await world.advance(10_000);
    await world.announce(machine);
    await world.announce(twin);
    await world.advance(60_000);
    const before = errors();

    config.mount({});
    await world.advance(120_000);

    expect(before).toEqual(['', '']);
    expect(errors().filter((error) => error.includes('is already served as CiliumNode'))).toHaveLength(1);
  });

  test('associates no static address, and logs once where it would', async () => {
    const tags = { pool: 'egress' };
    const publicAddresses = [{ count: 2, tags }];
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 1 })], publicAddresses }) });
    const machine = world.machine();
    const controller = start(world, { 'dry-run': 'true' });
    await world.announce(machine, { spec: { ipam: { 'static-ip-tags': tags } } });

    await world.advance(900_000);

    expect(controller.changes).toEqual([]);
    expect(
      controller.logged.filter(
        ({ message }) => message === 'dry run: would associate a static public address',
      ),
    ).toEqual([
      {
        level: 'info',
        message: 'dry run: would associate a static public address',
        details: { node: machine.name, interface: world.interfaces(machine)[0]?.id, tags },
      },
    ]);
  });

  test('sets no delete-on-termination, and logs where it would', async () => {
    const world = new World();
    const machine = world.machine();
    const end = world.fault('ModifyNetworkInterfaceAttribute', {
      kind: 'error',
      code: 'Odd',
      status: 400,
      message: 'odd',
    });
    const first = startController(world, { identity: 'headwater-a' });
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(30_000);
    first.stop();
    await world.advance(30_000);
    end();

    const controller = start(world, { 'dry-run': 'true' });
    await world.advance(120_000);

    expect(controller.changes).toEqual([]);
    expect(controller.logged).toContainEqual({
      level: 'info',
      message: 'dry run: would set delete-on-termination',
      details: { node: machine.name, interface: world.interfaces(machine)[1]?.id },
    });
  });
});

describe('a dry run beside an operator', () => {
  test('takes nothing out that the operator has shown since, once it goes live', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ type: 'm5.2xlarge' })] }) });
    const machine = world.machine();
    await world.announce(machine);
    const operator = new StandInOperator(world, { describes: false, supplies: true });
    await operator.resync();
    config.mount({ 'dry-run': 'true' });
    startController(world, { flags: { 'config-dir': config.path }, processEnvironment });
    await world.advance(95_000);
    await world.request(machine, 14);
    for (let run = 0; run < 2; run++) await operator.resync();
    operator.stop();
    const shown = [...world.pool(machine).keys()];
    const versions = world.history.of(machine.name).length;

    config.mount({});
    await world.request(machine, 20);
    await world.until('Headwater has given it more', () => world.pool(machine).size >= 20, 120_000);

    const lost = world.history
      .of(machine.name)
      .slice(versions)
      .flatMap(({ object }) => {
        const pool = objectAt(object, 'spec', 'ipam', 'pool');
        return shown.filter((address) => !Object.hasOwn(pool, address));
      });
    expect(shown).toHaveLength(14);
    expect(lost).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
