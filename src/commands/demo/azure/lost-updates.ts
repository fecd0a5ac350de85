// Chapter about updates that Azure carries out and whose answers are lost. Sent again blindly, they would add twice.
import { standings } from '../../../simulator/cluster/invariants.ts';
import { batchPods } from '../chapters/pods.ts';
import type { Chapter } from '../chapter.ts';
import { shownAddresses } from '../departures.ts';
import type { AzureContext } from './azure-chapters.ts';
import { smallSet } from './azure-topology.ts';

const update = 'VirtualMachineScaleSetVMs.Update';

/** An update whose answer the controller missed. */
interface Lost {
  /** Id of the VM. */
  readonly id: string;
  readonly node: string;
  readonly at: number;
}

export function lostUpdates(context: AzureContext): Chapter {
  const { faults } = context.cluster.arm.gateway;
  const toLose = context.nodes < 10 ? 1 : 3;
  const open = new Set<Lost>();
  let rules: readonly { readonly rule: number; readonly id: string }[] = [];
  let lost = 0;
  const met = (rule: number): boolean => faults.rules.some(({ id, met: count }) => id === rule && count > 0);

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
      for (const { id, rule } of lost < toLose ? rules : []) {
        if (!met(rule) || lost >= toLose) continue;
        lost += 1;
        faults.remove(rule);
        const node = nodeOf(context, id);
        open.add({ id, node, at: elapsed });
        context.report(
          `LOST the answer to ${update} for ${node}: the controller reads the VM, and looks for its names`,
        );
      }
      if (lost >= toLose) for (const { rule } of rules) faults.remove(rule);
      for (const each of open) {
        const verdict = verdictOn(context, each, elapsed);
        if (verdict === undefined) continue;
        open.delete(each);
        context.report(`FOUND: ${verdict}`);
      }
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

/** Once Azure has ended the update and the CiliumNode shows everything that the VM has. */
function verdictOn({ cluster }: AzureContext, { id, node, at }: Lost, now: number): string | undefined {
  const { cloud } = cluster.arm;
  const machine = cloud.machine(id);
  if (machine.operationId !== undefined) return undefined;
  const held = cloud
    .interfacesOf(machine)
    .flatMap(({ configurations }) => configurations)
    .flatMap(({ isPrimary, address }) => (isPrimary || address === undefined ? [] : [address]));
  const object = cluster.kubernetes.get('ciliumnodes.cilium.io', node);
  const { protocol, pendingPods } = cluster.workload.view(node);
  const shown = object === undefined ? new Set() : shownAddresses(object, protocol, 'azure');
  if (!held.every((address) => shown.has(address))) return undefined;
  const { excess = 0 } = standings(cluster).find((each) => each.node === node) ?? {};
  const seconds = ((now - at) / 1000).toFixed(1);
  const tooMany = excess - pendingPods.size;
  const twice = tooMany > 0 ? `, and ${tooMany} more than it needs` : ', and none came twice';
  return `${seconds} s later ${node} shows all ${held.length} addresses of its VM${twice}`;
}
