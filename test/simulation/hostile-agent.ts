// An agent that writes CiliumNodes that are not those of their instances: it names instances and addresses of other nodes, and agrees to every
// release. No other node may lose anything.
import type { Change } from '../../src/simulator/kubernetes/storage/change.ts';
import { type JsonObject, objectAt, textMapAt } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { newNode } from '../../src/simulator/workload/node-objects.ts';
import { ciliumNodesPath, newOwnNode } from '../../src/simulator/workload/own-node.ts';
import { fakePrefix, isFake } from './invariants/fakes.ts';
import type { FaultPlan, HostileAction } from './scenario.ts';
import type { Harness } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'hostile' }>;

export function hostile(harness: Harness, { deed, node, restart }: Plan): void {
  const facts = harness.nodeAt(node);
  if (facts === undefined) return;
  harness.coverage.hit('hostile', deed);
  harness.runInBackground(actions[deed](harness, facts));
  const { leader } = harness;
  if (!restart || leader === undefined) return;
  harness.clock.schedule(1000, () => harness.retire(leader, 2000));
}

/**
 * Names an instance at launch, before its node joins. Where Nodes have no provider IDs, the agent's own node is outside
 * the cloud.
 */
export async function ambush(harness: Harness, facts: NodeFacts): Promise<void> {
  if (facts.withoutProviderId === true) {
    const own = newNode({ ...facts, name: nameOf(facts), primaryAddress: outsideAddress });
    harness.coverage.hit('ambush from outside the cloud');
    await attempt(() => harness.client.create('/api/v1/nodes', own, new AbortController().signal));
  }
  return write(harness, facts, { spec: { ipam: { 'pre-allocate': 1, 'min-allocate': minAmbushed } } });
}

const outsideAddress = '192.0.2.10';

/** Addresses that an ambush asks for at first. Once it has them it needs none, and has an excess. */
const minAmbushed = 3;

const actions: Readonly<Record<HostileAction, (harness: Harness, facts: NodeFacts) => Promise<void>>> = {
  twin: (harness, facts) => write(harness, facts, copyOf(harness, facts)),
  ambush: (harness) => {
    harness.pendingAmbushes++;
    return Promise.resolve();
  },
  pool: (harness, facts) =>
    write(
      harness,
      { ...facts, instanceId: 'i-0123456789abcdef0' },
      { spec: { ipam: { pool: poolOf(everyAddress(harness)) }, eni: { 'instance-type': 'no type' } } },
    ),
  claims: (harness, facts) =>
    write(
      harness,
      { ...facts, instanceId: 'i-0123456789abcdef1' },
      { ...copyOf(harness, facts), ...everything(harness) },
    ),
};

/** Tries to make a fake CiliumNode lose what it has: it needs less, and agrees to every release request. */
export function offerForRelease(harness: Harness, { key, object }: Change): void {
  if (!isFake(key)) return;
  const { 'min-allocate': min, pool } = objectAt(object, 'spec', 'ipam');
  if (min === minAmbushed && Object.keys(pool ?? {}).length >= minAmbushed)
    harness.runInBackground(attempt(() => patch(harness, key, { spec: { ipam: { 'min-allocate': 0 } } })));
  const asked = [...textMapAt(object as JsonObject, 'status', 'ipam', 'release-ips')].filter(
    ([, state]) => state === 'marked-for-release',
  );
  if (asked.length === 0) return;
  const releases = Object.fromEntries(asked.map(([address]) => [address, 'ready-for-release']));
  const status = { ipam: { 'release-ips': releases, used: {} } };
  harness.runInBackground(attempt(() => patch(harness, key, { status }, '/status')));
}

interface Parts {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

async function write(harness: Harness, facts: NodeFacts, { spec = {}, status }: Parts): Promise<void> {
  const name = nameOf(facts);
  const never = new AbortController().signal;
  await attempt(() => harness.client.create(ciliumNodesPath, newOwnNode({ ...facts, name }, 'uid'), never));
  await attempt(() => patch(harness, name, { spec }));
  if (status !== undefined) await attempt(() => patch(harness, name, { status }, '/status'));
}

function patch(harness: Harness, name: string, body: JsonObject, part = ''): Promise<unknown> {
  return harness.client.mergePatch(`${ciliumNodesPath}/${name}${part}`, body, new AbortController().signal);
}

/** Ignores what the API server refuses and what gets lost. */
async function attempt(send: () => Promise<unknown>): Promise<void> {
  await send().catch(() => undefined);
}

function nameOf({ instanceId }: NodeFacts): string {
  return `${fakePrefix}${instanceId}`;
}

/** Everything that a node shows, with all of it ready for release. */
function copyOf({ cluster }: Harness, { name }: NodeFacts): Parts {
  const node = cluster.kubernetes.get('ciliumnodes.cilium.io', name);
  const pool = objectAt(node, 'spec', 'ipam', 'pool');
  const releases = Object.fromEntries(Object.keys(pool).map((address) => [address, 'ready-for-release']));
  return {
    spec: { ipam: { pool, 'pre-allocate': 1 } },
    status: { eni: objectAt(node, 'status', 'eni'), ipam: { 'release-ips': releases, used: {} } },
  };
}

function everything(harness: Harness): Parts {
  return { spec: { ipam: { pool: poolOf(everyAddress(harness)) } } };
}

function everyAddress({ cluster, scenario }: Harness): readonly string[] {
  const held = [...cluster.network.interfaces.values()].flatMap(({ addresses }) => addresses);
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
