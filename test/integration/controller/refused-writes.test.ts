import { expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

test('writes that are refused to a whole fleet make few Events and log lines, and each node still says why', async () => {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 24 })] }) });
  const controller = startController(world);
  const end = world.refuse(403, 'PATCH', /\/ciliumnodes\//);
  for (const machine of world.machines) await world.announce(machine);

  await world.advance(300_000);
  const events = world.machines
    .flatMap(({ name }) => world.events(name))
    .filter((text) => text.includes(' WriteRefused: '));
  const fleet = world.events('headwater');
  const lines = controller.logged.filter(({ level }) => level === 'warn');
  const { reasons } = controller.controller.status();
  end();
  await world.advance(300_000);

  expect(reasons).toEqual({ WriteRefused: 24 });
  expect(events.length).toBeGreaterThan(0);
  expect(events.length).toBeLessThanOrEqual(10);
  expect(fleet).toContainEqual(
    expect.stringMatching(/^Lease WriteRefused: several nodes: allow Headwater to patch/),
  );
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(world.events('headwater')).toContain('Lease Resolved: the condition of several nodes is resolved');
  expect(controller.controller.status().reasons).toEqual({});
  expect(world.broken()).toEqual([]);
});
