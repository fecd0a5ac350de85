// Somebody changes what a node may have: in the configuration of its agent, and in its CiliumNode at once, so that it holds
// before the agent is started anew.
import { instanceTypes } from '../../src/simulator/cloud/instance-types.ts';
import { ciliumNodesPath } from '../../src/simulator/workload/own-node.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { FaultPlan } from './scenario.ts';
import type { Stage } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'restrict' }>;

/** Between two tries to write a CiliumNode, in ms. */
const interval = 1000;

export function restrict(stage: Stage, plan: Plan): void {
  const facts = stage.nodeAt(plan.node);
  if (facts === undefined) return;
  const change = restrictedBy(stage, plan, facts);
  if (change === undefined) return;
  stage.coverage.hit('restrict', plan.what);
  reconfigure(stage, facts, change);
  stage.clock.schedule(plan.for, () => {
    const { ipam = {}, eni = {} } = facts;
    if (nowOf(stage, facts) !== undefined) reconfigure(stage, facts, 'ipam' in change ? { ipam } : { eni });
  });
}

/**
 * Whether the node has to keep its agent: one of the multi-pool protocol leaves out itself what lies below the first interface
 * index, pods of the former agent or not.
 */
export function mustKeepAgent(stage: Stage, nodeName: string): boolean {
  const { instanceId = '', eni } = stage.cluster.workload.machineOf(nodeName)?.facts ?? {};
  return stage.reconfigured.has(instanceId) && (eni?.firstInterfaceIndex ?? 0) > 0;
}

type Change = Pick<NodeFacts, 'ipam'> | Pick<NodeFacts, 'eni'>;

function restrictedBy(stage: Stage, plan: Plan, facts: NodeFacts): Change | undefined {
  if (plan.what === 'max-allocate') return { ipam: { ...facts.ipam, maxAllocate: plan.most } };
  const first = (facts.eni?.firstInterfaceIndex ?? 0) + 1;
  const [interfaces = 0] = instanceTypes.get(facts.instanceType)?.cards ?? [];
  const isAsked = stage.cluster.workload.machineOf(facts.name)?.protocol === 'crd-allocator';
  return isAsked && first < interfaces ? { eni: { ...facts.eni, firstInterfaceIndex: first } } : undefined;
}

function reconfigure(stage: Stage, facts: NodeFacts, change: Change): void {
  const { name, instanceId } = facts;
  stage.reconfigured.add(instanceId);
  stage.judge.allowances.limitChanged(instanceId, nowOf(stage, facts)?.ipam?.maxAllocate ?? Infinity);
  stage.cluster.workload.reconfigure(name, change);
  stage.promise(write(stage, facts));
}

/** Until the API server takes it, or the node is gone. */
async function write(stage: Stage, facts: NodeFacts): Promise<void> {
  const never = new AbortController().signal;
  for (let now = nowOf(stage, facts); now !== undefined; now = nowOf(stage, facts)) {
    const spec = {
      ipam: { 'max-allocate': now.ipam?.maxAllocate ?? null },
      eni: { 'first-interface-index': now.eni?.firstInterfaceIndex ?? 0 },
    };
    const answer = await stage.client.mergePatch(`${ciliumNodesPath}/${facts.name}`, { spec }, never);
    if (answer.kind === 'ok') return;
    await new Promise<void>((resolve) => stage.clock.schedule(interval, resolve));
  }
}

/** What the node is configured for now; undefined once its machine is gone. */
function nowOf(stage: Stage, { name, instanceId }: NodeFacts): NodeFacts | undefined {
  const facts = stage.cluster.workload.machineOf(name)?.facts;
  return facts?.instanceId === instanceId ? facts : undefined;
}
