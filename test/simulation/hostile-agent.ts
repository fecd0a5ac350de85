// An agent that writes CiliumNodes which have no Node: it names others' instances, lists others' addresses, and agrees to
// give back whatever it is asked for. Nobody else may lose anything by it.
import type { Change } from '../../src/simulator/kubernetes/storage/change.ts';
import { type JsonObject, objectAt, textMapAt } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ciliumNodesPath, newOwnNode } from '../../src/simulator/workload/own-node.ts';
import { fakePrefix, isFake } from './invariants/fakes.ts';
import type { FaultPlan, HostileDeed } from './scenario.ts';
import type { Stage } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'hostile' }>;

export function hostile(stage: Stage, { deed, node, restart }: Plan): void {
  const facts = stage.nodeAt(node);
  if (facts === undefined) return;
  stage.coverage.hit('hostile', deed);
  stage.promise(deeds[deed](stage, facts));
  const { leader } = stage;
  if (!restart || leader === undefined) return;
  stage.clock.schedule(1000, () => stage.retire(leader, 2000));
}

/** As soon as an instance is launched, and before its node joins. */
export async function ambush(stage: Stage, facts: NodeFacts): Promise<void> {
  await write(stage, facts, { spec: { ipam: { 'pre-allocate': 1, 'min-allocate': 3 } } });
  // What it has is too much then.
  stage.clock.schedule(8000, () =>
    stage.promise(attempt(() => patch(stage, nameOf(facts), { spec: { ipam: { 'min-allocate': 0 } } }))),
  );
}

const deeds: Readonly<Record<HostileDeed, (stage: Stage, facts: NodeFacts) => Promise<void>>> = {
  twin: (stage, facts) => write(stage, facts, copyOf(stage, facts)),
  ambush: (stage) => {
    stage.ambushes++;
    return Promise.resolve();
  },
  pool: (stage, facts) =>
    write(
      stage,
      { ...facts, instanceId: 'i-0123456789abcdef0' },
      { spec: { ipam: { pool: poolOf(everyAddress(stage)) }, eni: { 'instance-type': 'no type' } } },
    ),
  claims: (stage, facts) =>
    write(
      stage,
      { ...facts, instanceId: 'i-0123456789abcdef1' },
      { ...copyOf(stage, facts), ...everything(stage) },
    ),
};

/** Agrees to whatever a fake is asked. */
export function agree(stage: Stage, { key, object }: Change): void {
  if (!isFake(key)) return;
  const asked = [...textMapAt(object as JsonObject, 'status', 'ipam', 'release-ips')].filter(
    ([, state]) => state === 'marked-for-release',
  );
  if (asked.length === 0) return;
  const releases = Object.fromEntries(asked.map(([address]) => [address, 'ready-for-release']));
  const status = { ipam: { 'release-ips': releases, used: {} } };
  stage.promise(attempt(() => patch(stage, key, { status }, '/status')));
}

interface Parts {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

async function write(stage: Stage, facts: NodeFacts, { spec = {}, status }: Parts): Promise<void> {
  const name = nameOf(facts);
  const never = new AbortController().signal;
  await attempt(() => stage.client.create(ciliumNodesPath, newOwnNode({ ...facts, name }, 'uid'), never));
  await attempt(() => patch(stage, name, { spec }));
  if (status !== undefined) await attempt(() => patch(stage, name, { status }, '/status'));
}

function patch(stage: Stage, name: string, body: JsonObject, part = ''): Promise<unknown> {
  return stage.client.mergePatch(`${ciliumNodesPath}/${name}${part}`, body, new AbortController().signal);
}

/** Nobody sees what the API server refuses, or what gets lost. */
async function attempt(send: () => Promise<unknown>): Promise<void> {
  await send().catch(() => undefined);
}

function nameOf({ instanceId }: NodeFacts): string {
  return `${fakePrefix}${instanceId}`;
}

/** All that a node shows, and that its agent gives all of it up. */
function copyOf({ cluster }: Stage, { name }: NodeFacts): Parts {
  const node = cluster.kubernetes.get('ciliumnodes.cilium.io', name);
  const pool = objectAt(node, 'spec', 'ipam', 'pool');
  const releases = Object.fromEntries(Object.keys(pool).map((address) => [address, 'ready-for-release']));
  return {
    spec: { ipam: { pool, 'pre-allocate': 1 } },
    status: { eni: objectAt(node, 'status', 'eni'), ipam: { 'release-ips': releases, used: {} } },
  };
}

function everything(stage: Stage): Parts {
  return { spec: { ipam: { pool: poolOf(everyAddress(stage)) } } };
}

function everyAddress({ cluster, scenario }: Stage): readonly string[] {
  const held = [...cluster.ec2.network.interfaces.values()].flatMap(({ addresses }) => addresses);
  const blocks = scenario.zones.flatMap(({ podBlocks }) => podBlocks);
  const free = blocks.flatMap((block) => {
    const base = block.replace(/\.\d+\/\d+$/, '');
    return Array.from({ length: 250 }, (_, index) => `${base}.${index + 4}`);
  });
  return [...new Set([...held, ...free])];
}

function poolOf(addresses: readonly string[]): JsonObject {
  return Object.fromEntries(addresses.map((address) => [address, { resource: 'eni-00000000000000009' }]));
}
