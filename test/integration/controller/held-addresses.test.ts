import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import {
  type ControllerSetup,
  startController,
  type WorldController,
} from '../../support/world-controller.ts';

let config: MountedConfig;

beforeEach(() => {
  config = mountedConfig();
  config.mount({});
});

afterEach(() => {
  config.remove();
});

interface Shown {
  readonly PrivateIpAddresses?: readonly { readonly Primary?: boolean; readonly PrivateIpAddress?: string }[];
  readonly Attachment?: { readonly InstanceId?: string };
}

/** A role or an endpoint that shows the interfaces of these instances without secondary addresses. */
function half(hidden: ReadonlySet<string>): NonNullable<ControllerSetup['tamper']> {
  return (action, output) => {
    if (action !== 'DescribeNetworkInterfaces') return output;
    const { NetworkInterfaces: items = [] } = output as { NetworkInterfaces?: readonly Shown[] };
    const shown = items.map((item) =>
      hidden.has(item.Attachment?.InstanceId ?? '')
        ? { ...item, PrivateIpAddresses: item.PrivateIpAddresses?.filter(({ Primary }) => Primary) }
        : item,
    );
    return { ...output, NetworkInterfaces: shown };
  };
}

/** Nodes with addresses in use, and a controller from which the addresses of some instances can be hidden. */
async function servedWorld(count: number) {
  const hidden = new Set<string>();
  const world = new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ ipam: { preAllocate: 4 } }),
  });
  const flags = { 'aws-region': 'eu-west-1', 'resync-interval': '60s', 'config-dir': config.path };
  const processEnvironment = { ...thisProcess, environment: {} };
  const start = (identity: string): WorldController =>
    startController(world, { flags, processEnvironment, identity, tamper: half(hidden) });
  const controller = start('headwater-0');
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(50_000);
  for (const machine of world.machines) await world.use(machine, 4);
  await world.advance(50_000);
  return { world, controller, start, hidden };
}

const pools = (world: World): string[][] =>
  world.machines.map((machine) => [...world.pool(machine).keys()].sort());
describe('addresses that are missing on every node at once', () => {
  test('stay until a person approves their withdrawal by the token', async () => {
    const { world, controller, hidden } = await servedWorld(5);
    const before = pools(world);

    for (const { instanceId } of world.machines) hidden.add(instanceId);
    await world.advance(300_000);
    const held = controller.controller.status().withdrawalsHeld;
    const during = { pools: pools(world), unready: controller.controller.unreadiness() };
    const events = world.events('headwater');
    config.mount({ 'allow-withdrawals': `${held?.token}\n` });
    await world.advance(30_000);
    const [after] = pools(world);

    expect(during).toEqual({ pools: before, unready: held?.why });
    expect(held).toMatchObject({ state: 'held', nodes: 5 });
    expect(events).toEqual([`Lease WithdrawalsHeld: ${held?.why}`]);
    expect(controller.warnings().filter((text) => text.startsWith('withdrawals are held'))).toHaveLength(1);
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(after?.some((address) => before[0]?.includes(address))).toBe(false);
  });

  test('are no longer held once the cloud shows them again, and nodes still grow meanwhile', async () => {
    const { world, controller, hidden } = await servedWorld(5);
    const before = pools(world);

    for (const { instanceId } of world.machines) hidden.add(instanceId);
    await world.advance(200_000);
    const [first] = world.machines;
    if (first !== undefined) await world.use(first, 8);
    await world.advance(60_000);
    const grown = world.pool(world.machine()).size;
    hidden.clear();
    await world.advance(400_000);

    expect(grown).toBeGreaterThan(8);
    expect(controller.controller.unreadiness()).toBeUndefined();
    for (const [index, addresses] of before.entries()) {
      expect(pools(world)[index]).toEqual(expect.arrayContaining(addresses));
    }
    expect(world.broken()).toEqual([]);
  });
});

describe('addresses that are missing on a few nodes', () => {
  test('are withdrawn without delay', async () => {
    const { world, controller, hidden } = await servedWorld(5);
    const before = pools(world);

    for (const { instanceId } of world.machines.slice(0, 3)) hidden.add(instanceId);
    await world.advance(150_000);

    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(
      pools(world).map((pool, index) => pool.some((address) => before[index]?.includes(address))),
    ).toEqual([false, false, false, true, true]);
  });
});
