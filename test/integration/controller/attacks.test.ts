// Runs every row of the table of attacks, by an agent of its own node and by CiliumNodes without a Node, before and after a
// change of leader: no other node loses anything, waits for anything, or gets a warning.
import { describe, expect, test } from '@jest/globals';
import { AttackedWorld } from '../../support/attacked-world.ts';
import { attacks, type Strike, type Target, wholeAttacks } from '../../support/attacks.ts';

const addresses = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`);

function targetOf({
  world,
  victim,
  stranger,
}: {
  world: AttackedWorld['world'];
  victim: AttackedWorld['victim'];
  stranger: AttackedWorld['stranger'];
}): Target {
  const { name, instanceId, vpcId } = victim();
  const node = world.ciliumNode({ name }) ?? {};
  return { victim: { name, instanceId, node }, strangerId: stranger.instanceId, vpcId, addresses };
}

/** Resolves to whether the API server accepts the write; no controller sees a refused one. */
async function attempt(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (/: (?:400|413|422) /.test(String(error))) return false;
    throw error;
  }
}

async function strikeAs(
  attacked: AttackedWorld,
  name: string,
  { metadata = {}, spec = {}, status }: Strike,
): Promise<void> {
  const { world } = attacked;
  await attempt(() => world.patch({ name }, { metadata, spec }));
  if (status !== undefined) await attempt(() => world.patchStatus({ name }, status));
}

async function strikeAll(attacked: AttackedWorld, strikes: readonly Strike[], label: string): Promise<void> {
  const { world, stranger } = attacked;
  for (const [index, strike] of strikes.entries()) {
    const name = `a-fake-${label}-${index}`;
    const instanceId = strike.instanceId ?? stranger.instanceId;
    await world.announceAlone({ ...stranger, instanceId, name });
    await strikeAs(attacked, name, strike);
  }
}

/** In the CiliumNode of the agent's own node. */
async function strikeFrom(attacked: AttackedWorld, name: string, strikes: readonly Strike[]): Promise<void> {
  for (const { instanceId, ...strike } of strikes.slice(0, 10)) {
    const spec = { ...strike.spec, ...(instanceId !== undefined && { 'instance-id': instanceId }) };
    await strikeAs(attacked, name, { ...strike, spec });
    await attacked.world.advance(2000);
  }
}

async function expectUnharmed(attacked: AttackedWorld): Promise<void> {
  const { world } = attacked;
  const liar = attacked.victim(2);
  await attacked.grow(3);
  await world.advance(30_000);
  expect(attacked.harm(liar)).toEqual([]);
}

describe('an attacking CiliumNode without a node', () => {
  test.each(attacks)('harms no other node when it $what', async ({ strikes }) => {
    const attacked = await AttackedWorld.start({ protocol: 'both' });
    const { world, stranger } = attacked;
    const held = world.held(stranger);
    const target = targetOf({ world, victim: () => attacked.victim(), stranger });

    await strikeAll(attacked, strikes(target), 'x');
    await world.advance(10_000);
    await expectUnharmed(attacked);
    await attacked.changeLeader();
    await expectUnharmed(attacked);
    await world.advance(120_000);

    expect(attacked.harm(attacked.victim(2))).toEqual([]);
    expect(world.held(stranger)).toEqual(expect.arrayContaining([...held]));
  });
});

describe('an attacking agent of a node', () => {
  test.each(attacks)('harms no other node when it $what', async ({ strikes }) => {
    const attacked = await AttackedWorld.start({ protocol: 'both' });
    const { world, stranger } = attacked;
    const liar = attacked.victim(2);
    const held = world.held(stranger);
    const target = targetOf({ world, victim: () => attacked.victim(), stranger });

    await strikeFrom(attacked, liar.name, strikes(target));
    await expectUnharmed(attacked);
    await attacked.changeLeader();
    await expectUnharmed(attacked);

    expect(world.held(stranger)).toEqual(held);
  });
});

/** Until the cloud has answered the next leader, it cannot know which of two Nodes has an instance. */
const untilRead = /^\S+: (?:Node|CiliumNode) (?:Resolved: )?DuplicateInstance/;

describe('an attacking agent in a cluster whose Nodes have no provider IDs', () => {
  const cluster = { protocol: 'both', withoutProviderIds: true } as const;

  test.each(wholeAttacks)('harms no other node without a node, when it $what', async ({ strikes }) => {
    const attacked = await AttackedWorld.start(cluster);
    const { world, stranger } = attacked;
    const held = world.held(stranger);

    await strikeAll(attacked, strikes(targetOf({ world, victim: () => attacked.victim(), stranger })), 'x');
    await world.advance(10_000);
    await expectUnharmed(attacked);
    await attacked.changeLeader();
    await attacked.grow(3);
    await world.advance(120_000);

    expect(attacked.harm(attacked.victim(2)).filter((each) => !untilRead.test(each))).toEqual([]);
    expect(world.held(stranger)).toEqual(expect.arrayContaining([...held]));
  });

  test.each(wholeAttacks)('harms no other node from its own, when it $what', async ({ strikes }) => {
    const attacked = await AttackedWorld.start(cluster);
    const { world, stranger } = attacked;
    const liar = attacked.victim(2);
    const held = world.held(stranger);

    const target = targetOf({ world, victim: () => attacked.victim(), stranger });
    await strikeFrom(attacked, liar.name, strikes(target));
    await expectUnharmed(attacked);
    await attacked.changeLeader();
    await attacked.grow(3);
    await world.advance(120_000);

    expect(attacked.harm(liar).filter((each) => !untilRead.test(each))).toEqual([]);
    expect(world.held(stranger)).toEqual(expect.arrayContaining([...held]));
  });
});

test('all attacks at once, without the right to read Nodes, take nothing from any node', async () => {
  const attacked = await AttackedWorld.start({ protocol: 'both' });
  const { world, stranger } = attacked;
  const held = world.held(stranger);
  const target = targetOf({ world, victim: () => attacked.victim(), stranger });
  world.refuse(403, 'GET', /^\/api\/v1\/nodes/);
  await attacked.changeLeader();
  const before = attacked.removals.length;

  for (const [index, { strikes }] of attacks.entries())
    await strikeAll(attacked, strikes(target), String(index));
  await world.advance(20_000);
  await attacked.grow(3);
  await attacked.changeLeader();
  await world.advance(120_000);

  expect(attacked.removals).toHaveLength(before);
  expect(attacked.harm()).toEqual([]);
  expect(world.held(stranger)).toEqual(expect.arrayContaining([...held]));
});
