// The annotation to ignore a node stands on its Node: an agent replaces the annotations of its CiliumNode.
import { describe, expect, test } from '@jest/globals';
import { explained, toldOf } from '../../support/explained.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const ignore = 'ipam.cilium.io/ignore';

class AnnotatedWorld extends World {
  constructor(count: number) {
    super({ cloud: testCloud({ instances: [instance({ count })] }) });
  }

  /** Annotates the Node of the machine. */
  async annotate(value: string | null, index = 0): Promise<void> {
    const { name } = this.machine(index);
    await this.call('PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations: { [ignore]: value } } });
  }
}

describe('a CiliumNode whose Node asks to ignore it', () => {
  test('is left as it is, and served once its Node no longer asks for that', async () => {
    const world = new AnnotatedWorld(2);
    const machine = world.machine();
    const controller = startController(world);
    await world.register(machine);
    await world.annotate('True');
    await world.announceAlone(machine);
    await world.announce(world.machine(1));
    await world.advance(60_000);
    const ignored = { offered: world.pool(machine).size, states: world.history.of(machine.name).length };
    const { nodes, nodeNames } = controller.controller.status(true);

    await world.annotate('false');
    await world.advance(30_000);
    const served = world.pool(machine).size;
    await world.annotate('true');
    await world.request(machine, 25);
    await world.advance(60_000);

    expect(ignored).toEqual({ offered: 0, states: 1 });
    expect(nodes).toMatchObject({ total: 1, satisfied: 1, blocked: 0, leftAlone: 1 });
    expect(nodeNames).toEqual({ satisfied: [world.machine(1).name], leftAlone: [machine.name] });
    expect(served).toBe(8);
    expect(world.pool(machine).size).toBe(8);
    expect(world.held(machine)).toHaveLength(8);
    expect(controller.warnings()).toEqual([]);
    expect(world.pool(world.machine(1)).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('is ignored from the moment its Node is seen, also if the Node comes last', async () => {
    const world = new AnnotatedWorld(1);
    const machine = world.machine();
    startController(world);
    await world.announceAlone(machine);
    await world.advance(30_000);
    const before = world.pool(machine);

    await world.register(machine);
    await world.annotate('true');
    await world.request(machine, 25);
    await world.advance(60_000);

    expect(world.pool(machine)).toEqual(before);
  });

  test.each([
    ['CiliumNode', false],
    ['Node', true],
  ])('is told by headwater explain to be left alone, as its %s asks', async (kind, onNode) => {
    const world = new AnnotatedWorld(1);
    const machine = world.machine();
    const { controller } = startController(world);
    await world.announce(machine);
    if (onNode) await world.annotate('true');
    else await world.patch(machine, { metadata: { annotations: { [ignore]: 'true' } } });
    await world.advance(30_000);

    const lines = explained(controller, machine.name);

    expect(lines[0]).toBe(`${machine.name}: left alone`);
    expect(toldOf(lines, 'why')).toEqual([`its ${kind} is annotated ${ignore}=true`]);
    expect(toldOf(lines, 'next try')).toEqual(['when its owner no longer asks to leave it alone']);
  });

  test.each([
    ['the CiliumNode alone', false, true],
    ['both', true, true],
  ])('is left alone while %s asks for it', async (_, onNode, onCiliumNode) => {
    const world = new AnnotatedWorld(1);
    const machine = world.machine();
    startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    await world.annotate('true');
    if (onCiliumNode) await world.patch(machine, { metadata: { annotations: { [ignore]: 'true' } } });
    if (!onNode) await world.annotate(null);
    await world.request(machine, 25);
    await world.advance(60_000);
    const ignored = world.pool(machine).size;

    await world.annotate(null);
    await world.patch(machine, { metadata: { annotations: { [ignore]: null } } });
    await world.advance(60_000);

    expect(ignored).toBe(8);
    expect(world.pool(machine).size).toBe(25);
  });

  test('stays ignored while Nodes cannot be read any longer', async () => {
    const world = new AnnotatedWorld(1);
    const machine = world.machine();
    startController(world);
    await world.register(machine);
    await world.annotate('true');
    await world.announceAlone(machine);
    await world.advance(30_000);

    world.cluster.kubernetes.authorize = ({ resource }) => resource !== 'nodes';
    world.cluster.kubernetes.faults.closeWatches(/^\/api\/v1\/nodes/);
    await world.advance(600_000);

    expect(world.pool(machine).size).toBe(0);
  });

  test('is left alone by the next leader, and gives its instance to no other CiliumNode but its own', async () => {
    const world = new AnnotatedWorld(1);
    const machine = world.machine();
    const first = startController(world);
    await world.announce(machine);
    await world.advance(30_000);
    first.stop();
    await world.advance(30_000);
    await world.annotate('true');
    await world.request(machine, 25);
    const before = world.history.of(machine.name).length;

    startController(world, { identity: 'headwater-1' });
    await world.advance(120_000);

    expect(world.history.of(machine.name)).toHaveLength(before);
    expect(world.pool(machine).size).toBe(8);
  });
});
