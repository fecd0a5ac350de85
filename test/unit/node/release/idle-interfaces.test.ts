import { expect, test } from '@jest/globals';
import { type IdleNode, IdleInterfaces, IdlePhases } from '../../../../src/node/release/idle-interfaces.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { descriptionPrefix } from '../../../../src/providers/orphans/ownership-tags.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { eni, requirements, view } from '../allocation-facts.ts';
import { nodeOf, type NodeParts } from '../cilium-nodes.ts';

const delay = 60_000;

/** Whether the interface leaves its node once it had the time that an idle one has. It is shown, so no call is due. */
function isLeft(
  item: NetworkInterface,
  { enis, ...parts }: NodeParts,
  kept: readonly string[] = [],
): boolean {
  const clock = new VirtualClock();
  const podUse = { keeps: (address: string) => kept.includes(address) };
  const facts = {
    node: nodeOf({ ...parts, enis: { ...enis, [item.id]: [] } }),
    view: view([eni(0, 8), item]),
    requirements: requirements(),
    inDeficit: false,
    busy: new Set<string>(),
  };
  const node = {
    idle: new IdlePhases(),
    podUse,
    forIdleInterfaces: () => facts,
    refusal: () => undefined,
  } as unknown as IdleNode;
  const tasks = new TaskGroup({ clock, onBug: () => undefined });
  const idle = new IdleInterfaces(node, { clock, random: new Random('idle'), tasks }, delay);

  idle.step(0);
  idle.step(delay);
  return node.idle.leaving.has(item.id);
}

const description = `${descriptionPrefix}i-1)`;
const primary = '10.0.1.4';

test.each<[string, NetworkInterface, NodeParts, boolean]>([
  ['leaves once it is idle', eni(1, 0, { description }), { used: { '10.0.0.10': {} } }, true],
  ['stays while it has an address', eni(1, 1, { description }), {}, false],
  ['stays if others made it', eni(1), {}, false],
  ['stays with a public address', eni(1, 0, { description, publicAddress: '203.0.113.1' }), {}, false],
  [
    'stays while pods may get its primary address',
    eni(1, 0, { description }),
    { pool: { [primary]: { resource: 'eni-1' } } },
    false,
  ],
  [
    'stays while a pod uses its primary address',
    eni(1, 0, { description }),
    { used: { [primary]: {} } },
    false,
  ],
  [
    'stays while an agent that is not asked holds its primary address',
    eni(1, 0, { description }),
    { allocated: [primary] },
    false,
  ],
])('an interface %s', (_, item, parts, expected) => {
  expect(isLeft(item, parts)).toBe(expected);
});

test('an interface stays while a running pod shows its primary address', () => {
  expect(isLeft(eni(1, 0, { description }), {}, [primary])).toBe(false);
});
