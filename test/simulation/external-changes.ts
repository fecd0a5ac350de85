// Somebody else works on the interfaces of the cluster, beside the controller and without a word to it.
import { assign, unassign } from '../../src/simulator/cloud/assignments.ts';
import { detach } from '../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../src/simulator/cloud/claims.ts';
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface, deleteInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { membersOf, prefixOf } from './invariants/assignments.ts';
import type { ForeignDeed } from './scenario.ts';
import type { Stage } from './harness.ts';
import { nodeGroup, podSubnetIds } from './topology.ts';

interface Hand {
  readonly stage: Stage;
  readonly facts: NodeFacts;
  /** Attached to the node. */
  readonly interfaces: readonly NetworkInterface[];
  readonly pick: number;
}

export function foreignHand(
  stage: Stage,
  facts: NodeFacts,
  { deed, pick }: { readonly deed: ForeignDeed; readonly pick: number },
): void {
  const all = [...stage.cluster.ec2.network.interfaces.values()];
  const interfaces = all.filter(({ instanceId }) => instanceId === facts.instanceId);
  try {
    deeds[deed]({ stage, facts, interfaces, pick });
    stage.coverage.hit('foreign', deed);
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
  }
}

const deeds: Readonly<Record<ForeignDeed, (hand: Hand) => void>> = {
  // Half of the time pods come before anybody can know of it: the cloud may give what was taken to another interface.
  'unassign-free': (hand) => {
    takeAway(hand, false);
    if (hand.pick < 0.5) hand.stage.addPods(hand.facts.name, 4 + Math.floor(hand.pick * 20));
  },
  'unassign-used': (hand) => takeAway(hand, true),
  assign: ({ stage, facts, interfaces, pick }) => {
    const item = at(interfaces, pick);
    if (item === undefined) return;
    assign(stage.cluster.ec2.network, item.id, { ...nothing, count: 1 }, false);
    stage.judge.allowances.gave(facts.instanceId);
  },
  detach: ({ stage, facts, interfaces, pick }) => {
    const item = at(
      interfaces.filter(({ deviceIndex }) => deviceIndex !== 0),
      pick,
    );
    if (item?.attachment === undefined) return;
    excuseAll(stage, item);
    stage.judge.noteLoss(facts.instanceId);
    detach(stage.cluster.ec2.network, item.attachment.id);
  },
  // Half of them as a controller leaves what it made for the node and did not come to attach.
  'leave-loose': ({ stage, pick, facts: { instanceId } }) => {
    const isForNode = pick < 0.5;
    const tags = {
      'io.cilium/cilium-managed': 'true',
      'io.cilium/cluster-name': 'simulation',
      ...(isForNode && {
        'headwater/instance-id': instanceId,
        'headwater/operation-id': `operation-${Math.floor(pick * 1000)}`,
      }),
    };
    const request = plainInterface(at(podSubnetIds(stage.scenario), pick) ?? '', [nodeGroup]);
    const claim = { ...nothing, count: Math.floor(pick * 9) };
    const description = isForNode ? `Cilium-CNI (${instanceId})` : '';
    createInterface(stage.cluster.ec2.network, { ...request, claim, tags, description });
  },
  'delete-loose': ({ stage, pick }) => {
    const { network } = stage.cluster.ec2;
    const loose = [...network.interfaces.values()].filter(
      ({ instanceId, tags }) => instanceId === undefined && tags['io.cilium/cilium-managed'] === 'true',
    );
    const item = at(loose, pick);
    if (item === undefined) return;
    // A node that lost it to somebody may not know of that yet, and the cloud hands its addresses out again.
    excuseAll(stage, item);
    deleteInterface(network, item.id);
  },
};

function takeAway({ stage, facts, interfaces, pick }: Hand, isUsed: boolean): void {
  const { network } = stage.cluster.ec2;
  const inUse = stage.cluster.workload.machineOf(facts.name)?.memory.endpoints ?? new Map<string, string>();
  const blocks = new Set([...inUse.keys()].map(prefixOf));
  const things = interfaces.flatMap(({ id, addresses, primaryAddress, prefixes }) => [
    ...addresses
      .filter((address) => address !== primaryAddress && inUse.has(address) === isUsed)
      .map((address) => ({ id, addresses: [address], prefixes: [] as string[] })),
    ...prefixes
      .filter((prefix) => blocks.has(prefix) === isUsed)
      .map((prefix) => ({ id, addresses: [] as string[], prefixes: [prefix] })),
  ]);
  const thing = at(things, pick);
  if (thing === undefined) return;
  excuseAll(stage, thing);
  stage.judge.noteLoss(facts.instanceId);
  unassign(network, thing.id, thing);
}

/** What somebody takes away is not held against the controller. */
export function excuseAll(
  { judge }: Stage,
  { addresses, prefixes }: Pick<NetworkInterface, 'addresses' | 'prefixes'>,
): void {
  for (const address of [...addresses, ...prefixes.flatMap(membersOf)]) judge.excuse(address);
}

function at<T>(items: readonly T[], share: number): T | undefined {
  return items[Math.floor(share * items.length)];
}
