// Chapter about updates that Azure carries out and whose answers are lost. Sent again blindly, they would add twice.
import type { JsonObject } from '../../../simulator/workload/json.ts';
import { batchPods } from '../chapters/pods.ts';
import type { AzureContext, Chapter } from '../chapter.ts';
import { shownAddresses } from '../departures.ts';
import { smallSet } from './azure-topology.ts';

const update = 'VirtualMachineScaleSetVMs.Update';

/** An update whose answer the controller missed. */
interface Lost {
  /** Id of the VM. */
  readonly id: string;
  readonly node: string;
  readonly at: number;
  /** Its model when the request arrived. */
  readonly before: JsonObject;
  /** What the VM has had since the update. */
  addresses?: readonly string[];
}

export function lostUpdates(context: AzureContext): Chapter {
  const { faults } = context.cluster.arm.gateway;
  const toLose = context.nodes < 10 ? 1 : 3;
  const open = new Set<Lost>();
  let rules: readonly { readonly rule: number; readonly id: string }[] = [];
  let lost = 0;
  const met = (rule: number): boolean => faults.rules.some(({ id, met: count }) => id === rule && count > 0);

  const noteLosses = (elapsed: number): void => {
    for (const { id } of rules.filter(({ rule }) => met(rule)).slice(0, toLose - lost)) {
      lost += 1;
      rules = rules.filter((each) => each.id !== id);
      const node = nodeOf(context, id);
      open.add({ id, node, at: elapsed, before: context.cluster.arm.cloud.machine(id).model });
      context.report(
        `LOST the answer to ${update} for ${node}: the controller reads the VM, and looks for its names`,
      );
    }
    if (lost >= toLose) for (const { rule } of rules) faults.remove(rule);
  };
  const noteFinds = (elapsed: number): void => {
    for (const each of open) {
      const verdict = verdictOn(context, each, elapsed);
      if (verdict === undefined) continue;
      open.delete(each);
      context.report(`FOUND: ${verdict}`);
    }
  };

  return {
    title: 'answers get lost',
    hints: [
      `Azure carries out the next updates of ${toLose === 1 ? 'a VM' : `${toLose} VMs`}, but the answers never arrive.`,
      'Asking again blindly would add addresses twice. Watch what the controller finds out.',
    ],
    longest: 12_000,
    begin: () => {
      rules = vmsOfUniformSet(context).map((id) => ({ id, rule: faults.add(losing(id)) }));
      context.run(batchPods(context.nodes));
    },
    watch: ({ elapsed }) => {
      if (lost < toLose) noteLosses(elapsed);
      noteFinds(elapsed);
      if (lost < toLose) return 'running';
      return open.size > 0 || elapsed < 4000 ? 'continues' : 'over';
    },
  };
}

function losing(id: string) {
  const fault = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 } as const;
  return { action: update, rate: 1, count: 1, match: { path: id }, fault };
}

/** All except the small set, whose nodes have their own chapter. */
function vmsOfUniformSet({ cluster }: AzureContext): readonly string[] {
  return [...cluster.arm.cloud.machines.current.values()]
    .filter(
      ({ instanceId, scaleSetId = '' }) =>
        instanceId !== undefined && !scaleSetId.endsWith(`/${smallSet.name}`),
    )
    .map(({ id }) => id);
}

function nodeOf({ cluster }: AzureContext, id: string): string {
  return cluster.workload.views.find(({ facts }) => facts.instanceId === id)?.nodeName ?? id;
}

/** Once the CiliumNode shows everything that the VM has had since the update. */
function verdictOn(context: AzureContext, lost: Lost, now: number): string | undefined {
  const { node, at } = lost;
  const { kubernetes, workload } = context.cluster;
  const held = heldBy(context, lost);
  if (context.cluster.arm.cloud.machine(lost.id).model === lost.before) return undefined;
  lost.addresses ??= held;
  const object = kubernetes.get('ciliumnodes.cilium.io', node);
  const shown =
    object === undefined ? new Set() : shownAddresses(object, workload.view(node).protocol, 'azure');
  if (!lost.addresses.every((address) => shown.has(address))) return undefined;
  const more = held.length - lost.addresses.length;
  const seconds = ((now - at) / 1000).toFixed(1);
  const twice = more > 0 ? `, and ${more} that came since` : ', and none came twice';
  return `${seconds} s later ${node} shows all ${lost.addresses.length} addresses of its VM${twice}`;
}

/** Addresses for pods, also those of an update that has not ended. */
function heldBy({ cluster }: AzureContext, { id }: Lost): readonly string[] {
  const { cloud } = cluster.arm;
  return cloud
    .interfacesOf(cloud.machine(id))
    .flatMap(({ configurations }) => configurations)
    .flatMap(({ isPrimary, address }) => (isPrimary || address === undefined ? [] : [address]));
}
