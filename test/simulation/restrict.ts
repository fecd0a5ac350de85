// Changes what a node may have: in the configuration of its agent, and at once in its CiliumNode, so that it applies
// before the agent restarts.
import { instanceTypes } from '../../src/simulator/cloud/instance-types.ts';
import { ciliumNodesPath } from '../../src/simulator/workload/own-node.ts';
import type { EniOptions, NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { FaultPlan } from './scenario.ts';
import type { Harness } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'restrict' }>;

/** Between two attempts to write a CiliumNode, in ms. */
const interval = 1000;

export function restrict(harness: Harness, plan: Plan): void {
  const facts = harness.nodeAt(plan.node);
  if (facts === undefined) return;
  const change = restrictedBy(harness, plan, facts);
  if (change === undefined) return;
  harness.coverage.hit('restrict', plan.what);
  reconfigure(harness, facts, change);
  harness.clock.schedule(plan.for, () => {
    const now = nowOf(harness, facts);
    if (now === undefined) return;
    const { ipam = {}, eni = {} } = facts;
    reconfigure(harness, facts, 'ipam' in change ? { ipam } : { eni: lowestOf(eni, now.eni) });
  });
}

/**
 * The configuration with the lower first interface index. If two restrictions overlap, the later one began under the
 * earlier one. Restoring that state would restrict the node after the end, when it may have a multi-pool agent.
 */
function lowestOf(former: EniOptions, now: EniOptions = {}): EniOptions {
  return (now.firstInterfaceIndex ?? 0) < (former.firstInterfaceIndex ?? 0) ? now : former;
}

/**
 * Whether the node must keep its agent: a multi-pool agent itself leaves out interfaces below the first interface
 * index, even if pods of its predecessor use them.
 */
export function mustKeepAgent(harness: Harness, nodeName: string): boolean {
  const { instanceId = '', eni } = harness.cluster.workload.machineOf(nodeName)?.facts ?? {};
  return harness.reconfigured.has(instanceId) && (eni?.firstInterfaceIndex ?? 0) > 0;
}

type Change = Pick<NodeFacts, 'ipam'> | Pick<NodeFacts, 'eni'>;

function restrictedBy(harness: Harness, plan: Plan, facts: NodeFacts): Change | undefined {
  if (plan.what === 'max-allocate') return { ipam: { ...facts.ipam, maxAllocate: plan.max } };
  const first = (facts.eni?.firstInterfaceIndex ?? 0) + 1;
  const [interfaces = 0] = instanceTypes.get(facts.instanceType)?.cards ?? [];
  const isAsked = harness.cluster.workload.machineOf(facts.name)?.protocol === 'crd-allocator';
  return isAsked && first < interfaces ? { eni: { ...facts.eni, firstInterfaceIndex: first } } : undefined;
}

function reconfigure(harness: Harness, facts: NodeFacts, change: Change): void {
  const { name, instanceId } = facts;
  harness.reconfigured.add(instanceId);
  harness.checker.allowances.limitChanged(instanceId, nowOf(harness, facts)?.ipam?.maxAllocate ?? Infinity);
  harness.cluster.workload.reconfigure(name, change);
  harness.runInBackground(write(harness, facts));
}

/** Retries until the API server accepts it or the node is gone. */
async function write(harness: Harness, facts: NodeFacts): Promise<void> {
  const never = new AbortController().signal;
  for (let now = nowOf(harness, facts); now !== undefined; now = nowOf(harness, facts)) {
    const spec = {
      ipam: { 'max-allocate': now.ipam?.maxAllocate ?? null },
      ...(now.cloud === undefined && {
        eni: { 'first-interface-index': now.eni?.firstInterfaceIndex ?? 0 },
      }),
    };
    const answer = await harness.client.mergePatch(`${ciliumNodesPath}/${facts.name}`, { spec }, never);
    if (answer.kind === 'ok') return;
    await new Promise<void>((resolve) => harness.clock.schedule(interval, resolve));
  }
}

/** The present configuration of the node; undefined once its machine is gone. */
function nowOf(harness: Harness, { name, instanceId }: NodeFacts): NodeFacts | undefined {
  const facts = harness.cluster.workload.machineOf(name)?.facts;
  return facts?.instanceId === instanceId ? facts : undefined;
}
