// Another actor changes interfaces of the cluster while the controller runs.
import { assign, unassign } from '../../src/simulator/cloud/assignments.ts';
import { detach } from '../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../src/simulator/cloud/claims.ts';
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface, deleteInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { membersOf, prefixOf } from './invariants/assignments.ts';
import type { ExternalChange } from './scenario.ts';
import { changeOnAzure } from './clouds/azure-changes.ts';
import { AzureRig } from './clouds/azure-rig.ts';
import type { Harness } from './harness.ts';

interface ChangeTarget {
  readonly harness: Harness;
  readonly facts: NodeFacts;
  /** Attached to the node. */
  readonly interfaces: readonly NetworkInterface[];
  readonly pick: number;
}

export function changeExternally(
  harness: Harness,
  facts: NodeFacts,
  { deed, pick }: { readonly deed: ExternalChange; readonly pick: number },
): void {
  const { rig } = harness;
  if (rig instanceof AzureRig) {
    harness.runInBackground(changeOnAzure({ harness, rig, facts }, { deed, pick }));
    return;
  }
  const all = [...harness.cluster.network.interfaces.values()];
  const interfaces = all.filter(({ instanceId }) => instanceId === facts.instanceId);
  try {
    changes[deed]({ harness, facts, interfaces, pick });
    harness.coverage.hit('foreign', deed);
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
  }
}

const changes: Readonly<Record<ExternalChange, (target: ChangeTarget) => void>> = {
  // Half of the time pods arrive before a controller can know: the cloud may assign the address to another interface.
  'unassign-free': (target) => {
    unassignOne(target, false);
    if (target.pick < 0.5) target.harness.addExtraPods(target.facts.name, 4 + Math.floor(target.pick * 20));
  },
  'unassign-used': (target) => unassignOne(target, true),
  assign: ({ harness, facts, interfaces, pick }) => {
    const item = pickAt(interfaces, pick);
    if (item === undefined) return;
    assign(harness.cluster.network, item.id, { ...nothing, count: 1 }, false);
    harness.checker.allowances.addExtra(facts.instanceId);
  },
  detach: ({ harness, facts, interfaces, pick }) => {
    const item = pickAt(
      interfaces.filter(({ deviceIndex }) => deviceIndex !== 0),
      pick,
    );
    if (item?.attachment === undefined) return;
    exemptAll(harness, item);
    harness.checker.recordExternalLoss(facts.instanceId);
    detach(harness.cluster.network, item.attachment.id);
  },
  // Half of them look like an interface that a controller created for the node and failed to attach.
  'leave-loose': ({ harness, pick, facts: { instanceId } }) => {
    const isForNode = pick < 0.5;
    const tags = {
      'io.cilium/cilium-managed': 'true',
      'io.cilium/cluster-name': 'simulation',
      ...(isForNode && {
        'headwater/instance-id': instanceId,
        'headwater/operation-id': `operation-${Math.floor(pick * 1000)}`,
      }),
    };
    const request = plainInterface(pickAt(harness.rig.podSubnets, pick) ?? '', harness.rig.securityGroups);
    const claim = { ...nothing, count: Math.floor(pick * 9) };
    const description = isForNode ? `Cilium-CNI (${instanceId})` : '';
    createInterface(harness.cluster.network, { ...request, claim, tags, description });
  },
  'delete-loose': ({ harness, pick }) => {
    const { network } = harness.cluster;
    const detached = [...network.interfaces.values()].filter(
      ({ instanceId, tags }) => instanceId === undefined && tags['io.cilium/cilium-managed'] === 'true',
    );
    const item = pickAt(detached, pick);
    if (item === undefined) return;
    // Another external change may have detached it without the node knowing yet, and the cloud reassigns its addresses.
    exemptAll(harness, item);
    deleteInterface(network, item.id);
  },
};

function unassignOne({ harness, facts, interfaces, pick }: ChangeTarget, isUsed: boolean): void {
  const { network } = harness.cluster;
  const inUse = harness.cluster.workload.machineOf(facts.name)?.memory.endpoints ?? new Map<string, string>();
  const blocks = new Set([...inUse.keys()].map(prefixOf));
  const candidates = interfaces.flatMap(({ id, addresses, primaryAddress, prefixes }) => [
    ...addresses
      .filter((address) => address !== primaryAddress && inUse.has(address) === isUsed)
      .map((address) => ({ id, addresses: [address], prefixes: [] as string[] })),
    ...prefixes
      .filter((prefix) => blocks.has(prefix) === isUsed)
      .map((prefix) => ({ id, addresses: [] as string[], prefixes: [prefix] })),
  ]);
  const chosen = pickAt(candidates, pick);
  if (chosen === undefined) return;
  exemptAll(harness, chosen);
  harness.checker.recordExternalLoss(facts.instanceId);
  unassign(network, chosen.id, chosen);
}

/** Exempts what an external change removed: the controller is not at fault. */
export function exemptAll(
  { checker }: Harness,
  { addresses, prefixes }: Pick<NetworkInterface, 'addresses' | 'prefixes'>,
): void {
  for (const address of [...addresses, ...prefixes.flatMap(membersOf)]) checker.exempt(address);
}

function pickAt<T>(items: readonly T[], share: number): T | undefined {
  return items[Math.floor(share * items.length)];
}
