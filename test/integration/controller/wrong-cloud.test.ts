import { describe, expect, test } from '@jest/globals';
import { heldAnnotation } from '../../../src/controller/eni/withdrawal-watch.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import {
  type ControllerSetup,
  startController,
  type WorldController,
} from '../../support/world-controller.ts';

const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const region = { 'aws-region': 'eu-west-1', 'resync-interval': '60s' };

/** The answers of a cloud that knows none of the instances. */
function blind(isBlind: () => boolean): NonNullable<ControllerSetup['tamper']> {
  return (action, output) => {
    if (!isBlind()) return output;
    if (action === 'DescribeNetworkInterfaces') return { NetworkInterfaces: [] };
    return action === 'DescribeInstances' ? { Reservations: [] } : output;
  };
}

async function announcedWorld(count: number): Promise<World> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count })] }) });
  for (const machine of world.machines) await world.announce(machine);
  return world;
}

/** Each answer of the readiness probe, every second. */
async function readiness(world: World, controller: WorldController, seconds: number): Promise<Set<string>> {
  const answers = new Set<string>();
  for (let second = 0; second < seconds; second++) {
    answers.add(controller.controller.unreadiness() ?? 'ready');
    await world.advance(1000);
  }
  return answers;
}

describe('a region that shows none of the instances', () => {
  test('keeps the process unready, is reported once by its name, and clears once most instances are found', async () => {
    const world = await announcedWorld(3);
    let isBlind = true;
    const controller = startController(world, { tamper: blind(() => isBlind), flags: region });

    const answers = await readiness(world, controller, 120);
    const status = controller.controller.status();
    const during = {
      held: await controller.metric('headwater_withdrawals_held'),
      stopped: await controller.metric('headwater_mutations_paused{reason="withdrawalsHeld"}'),
      events: world.events('headwater'),
      warned: controller.warnings().filter((text) => text.startsWith('withdrawals are held')),
    };
    isBlind = false;
    await world.advance(120_000);

    const vpc = world.machine().vpcId;
    const why = `none of the 3 instances of ${vpc} is in eu-west-1: is this the right region and role? Nothing is taken away until most of them are found`;
    expect(answers).not.toContain('ready');
    expect(answers).toContain(why);
    expect(status.withdrawalsHeld).toMatchObject({ state: 'misdirected', why, nodes: 3 });
    expect(status.paused).toEqual([{ reason: 'withdrawalsHeld', activities: ['release'] }]);
    expect(during).toEqual({
      held: 3,
      stopped: 1,
      events: [`Lease WithdrawalsHeld: ${why}`],
      warned: ['withdrawals are held: nothing is taken away'],
    });
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(controller.controller.status()).not.toHaveProperty('withdrawalsHeld');
    expect(await controller.metric('headwater_withdrawals_held')).toBe(0);
    expect(world.broken()).toEqual([]);
  });
});

describe('a region that shows one of three instances', () => {
  test('serves that instance meanwhile', async () => {
    const world = await announcedWorld(3);
    const [first] = world.machines;
    const shows = (item: { Attachment?: { InstanceId?: string } }): boolean =>
      item.Attachment?.InstanceId === first?.instanceId;
    const controller = startController(world, {
      flags: region,
      tamper: (action, output) => {
        if (action === 'DescribeInstances') return { Reservations: [] };
        if (action !== 'DescribeNetworkInterfaces') return output;
        const { NetworkInterfaces: items = [] } = output as { NetworkInterfaces?: object[] };
        return { ...output, NetworkInterfaces: items.filter(shows) };
      },
    });

    await world.advance(60_000);

    expect(controller.controller.unreadiness()).toMatch(
      /^only 1 of the 3 instances of vpc-\w+ is in eu-west-1:/,
    );
    expect(world.machines.map((machine) => world.pool(machine).size > 0)).toEqual([true, false, false]);
  });
});

describe('a Lease that says that the previous leader held withdrawals', () => {
  test('keeps the successor unready and from taking anything away until it has read the cloud twice', async () => {
    const world = await announcedWorld(3);
    const note = JSON.stringify({
      since: '2026-01-01T00:00:00.000Z',
      token: '0123456789',
      nodes: 3,
      sentence: 'so',
    });
    await world.call('POST', leasesPath, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'headwater', annotations: { [heldAnnotation]: note, theirs: 'stays' } },
      spec: {},
    });
    const controller = startController(world, { flags: region });

    const answers = await readiness(world, controller, 55);
    const before = await world.call('GET', `${leasesPath}/headwater`);
    await world.advance(20_000);
    const after = await world.call('GET', `${leasesPath}/headwater`);

    expect(answers).not.toContain('ready');
    expect(answers).toContain(
      'nothing is taken away before this process has read eu-west-1 twice, because the previous leader held withdrawals: so',
    );
    expect(before).toMatchObject({ metadata: { annotations: { [heldAnnotation]: note, theirs: 'stays' } } });
    expect(after).toMatchObject({ metadata: { annotations: { theirs: 'stays' } } });
    expect(after).not.toHaveProperty(['metadata', 'annotations', heldAnnotation]);
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(world.broken()).toEqual([]);
  });

  test('has no effect when there is no election', async () => {
    const world = await announcedWorld(3);
    const controller = startController(world, { flags: { ...region, 'leader-election': 'false' } });

    await world.advance(10_000);

    expect(controller.controller.unreadiness()).toBeUndefined();
  });
});
