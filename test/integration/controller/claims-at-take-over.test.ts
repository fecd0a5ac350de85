// Before the next leader begins, an agent writes every address of the subnet into a CiliumNode. Whatever the cloud shows
// of the instance that it names, the owner of the addresses has them as soon as it would have without that.
import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AttackedWorld } from '../../support/attacked-world.ts';
import { withoutInstance } from '../../support/torn-answers.ts';

const leaseDuration = 15_000;
/** What the cloud shows first after a change of leader may be gone already, and counts after that. */
const consistencyWindow = 30_000;
const toWrite = 1_000;

const madeUpId = 'eni-00000000000000009';
const everyAddress = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`);
const two = { addresses: [], prefixes: [], count: 2, prefixCount: 0 };

interface Attempt {
  readonly withoutProviderIds: boolean;
  readonly isOwnNode: boolean;
  readonly isHidden: boolean;
  readonly claim: (attacked: AttackedWorld, liar: NodeFacts) => Promise<void>;
}

async function claimIn(
  { world }: AttackedWorld,
  liar: NodeFacts,
  [id, like]: readonly [id: string, like: object],
): Promise<void> {
  const own = new Set(world.held(liar));
  const addresses = everyAddress.filter((each) => !own.has(each));
  const pool = Object.fromEntries(addresses.map((address) => [address, { resource: id }]));
  const shown: JsonObject = { ...like, id, addresses };
  await world.patch(liar, { spec: { ipam: { pool } } });
  await world.patchStatus(liar, { eni: { enis: { [id]: shown } } });
}

function publishedBy({ world }: AttackedWorld, machine: NodeFacts): readonly [id: string, like: object] {
  const [id = '', like] = Object.entries(world.enis(machine)).at(-1) ?? [];
  return [id, like as JsonObject];
}

const claims: readonly (readonly [string, Attempt['claim']])[] = [
  [
    'the pool',
    async ({ world }, liar) => {
      const pool = Object.fromEntries(everyAddress.map((address) => [address, { resource: madeUpId }]));
      await world.patch(liar, { spec: { ipam: { pool } } });
    },
  ],
  [
    'an invented interface',
    (attacked, liar) => claimIn(attacked, liar, [madeUpId, publishedBy(attacked, attacked.victim())[1]]),
  ],
  [
    'the interface of the owner',
    (attacked, liar) => claimIn(attacked, liar, publishedBy(attacked, attacked.victim())),
  ],
];

/** Nine of the victim, which need more than it has. */
function addPods(attacked: AttackedWorld, kind: string): void {
  const { name: nodeName } = attacked.victim();
  for (let index = 0; index < 9; index++)
    void attacked.world.cluster.workload.createPod({ name: `${kind}-${index}`, nodeName });
}

/** Resolves to when the victim shows what it had in the cloud and what its new pods need, in ms after the attack. */
async function servedAfter({ withoutProviderIds, isOwnNode, isHidden, claim }: Attempt): Promise<number> {
  const attacked = await AttackedWorld.start({ withoutProviderIds });
  const { world, stranger } = attacked;
  const victim = attacked.victim();
  const liar = isOwnNode ? attacked.victim(2) : { ...stranger, name: 'a-fake' };
  if (!isOwnNode) await attacked.write(liar.name, liar, {});
  let began = Infinity;

  await attacked.restart(
    async () => {
      assign(world.cluster.ec2.network, world.interfaces(victim).at(-1)?.id ?? '', two, false);
      await claim(attacked, liar);
      addPods(attacked, 'late');
      began = world.clock.monotonic();
    },
    isHidden ? (_, output) => withoutInstance(output, liar.instanceId) : undefined,
  );
  const isServed = (): boolean => {
    const pool = world.pool(victim);
    return pool.size >= 6 + 9 + 4 && world.held(victim).every((each) => pool.has(each));
  };
  await world.until('the owner shows all', isServed, 600_000);
  const served = world.clock.monotonic() - began;
  await world.advance(120_000);
  addPods(attacked, 'later');
  await world.advance(20_000);

  expect(attacked.harm(liar)).toEqual([]);
  expect(attacked.removals).toEqual([]);
  return served;
}

describe.each([
  ['with', false],
  ['without', true],
])('in a cluster whose Nodes are %s provider IDs, addresses', (_, withoutProviderIds) => {
  describe.each([
    ["the agent's own CiliumNode", true],
    ['a CiliumNode without a Node', false],
  ])('that %s shows', (__, isOwnNode) => {
    describe.each(claims)('in %s', (___, claim) => {
      test.each([
        ['shows', false],
        ['hides', true],
      ])('are shown by their owner at once where the cloud %s its instance', async (____, isHidden) => {
        const after = await servedAfter({ withoutProviderIds, isOwnNode, isHidden, claim });

        expect(after).toBeLessThan(leaseDuration + consistencyWindow + toWrite);
      });
    });
  });
});
