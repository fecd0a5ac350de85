import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { WorkloadFleet } from '../../../../src/simulator/workload/workload-fleet.ts';
import type { WorkloadEvent } from '../../../../src/simulator/workload/journal.ts';
import { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts, Protocol } from '../../../../src/simulator/workload/node-facts.ts';
import type { Workload } from '../../../../src/simulator/workload/workload.ts';
import { Cluster, nodeFacts } from '../../../unit/simulator/workload/cluster.ts';
import { TinyOperator } from './tiny-operator.ts';

const minute = 60_000;

interface Rig {
  readonly cluster: Cluster;
  readonly fleet: WorkloadFleet;
  readonly operator: TinyOperator;
  readonly events: readonly WorkloadEvent[];
  readonly bugs: readonly unknown[];
  readonly run: (workloads: readonly Workload[], duration: number) => Promise<void>;
}

function factsOf(name: string, protocol: Protocol): NodeFacts {
  const { agentAddresses: _, ...facts } = nodeFacts;
  return { ...facts, name, instanceId: `i-${name}`, protocol };
}

/** Nodes named after their protocol, with an operator that serves them, for ten seconds. */
async function rig(protocols: readonly Protocol[], seed = 'fleet'): Promise<Rig> {
  const cluster = new Cluster(seed);
  const events: WorkloadEvent[] = [];
  const bugs: unknown[] = [];
  let launched = 0;
  const fleet = new WorkloadFleet({
    handler: cluster.handler,
    clock: cluster.clock,
    random: new Random(seed),
    nodes: protocols.map((protocol, index) => factsOf(`node-${index}`, protocol)),
    pace: 1,
    startLag: 0,
    machines: {
      terminate: () => Promise.resolve(),
      launch: (previous) => Promise.resolve(factsOf(`node-new-${++launched}`, previous.protocol)),
    },
    onEvent: (event) => events.push(event),
    onBug: (error) => bugs.push(error),
  });
  const operator = new TinyOperator({
    client: new KubernetesClient(cluster.handler, 'operator'),
    clock: cluster.clock,
    inUse: (name) =>
      new Set(
        fleet.views
          .filter((view) => view.nodeName === name)
          .flatMap((view) => [...view.addressesInUse.keys()]),
      ),
  });
  const never = new AbortController().signal;
  void operator.run(never);
  await fleet.start();
  await cluster.clock.advance(10_000);
  const run = async (workloads: readonly Workload[], duration: number): Promise<void> => {
    const stopping = new AbortController();
    const running = workloads.map((workload) => fleet.run(workload, stopping.signal));
    await cluster.clock.advance(duration);
    stopping.abort(new Error('the time is over'));
    await cluster.clock.advance(minute);
    await Promise.all(running);
  };
  return { cluster, fleet, operator, events, bugs, run };
}

function podsInUse(fleet: WorkloadFleet): readonly string[] {
  return fleet.views
    .flatMap((view) => [...view.addressesInUse.values()])
    .filter((owner) => owner.includes('/'))
    .toSorted();
}

const both: readonly Protocol[] = ['crd-allocator', 'multi-pool'];
const steady: Workload = { kind: 'steady', name: 'steady', arrivalsPerMinute: 12, meanLifetime: 3 * minute };

describe('a fleet under load', () => {
  test('starts agents of both protocols, and all pods of a burst get addresses', async () => {
    const { fleet, run, bugs } = await rig([...both, ...both]);
    const phases = fleet.views.map((view) => view.phase);

    await run([{ kind: 'burst', name: 'burst', at: 0, pods: 120, over: 1_000 }], 5 * minute);

    expect(phases).toEqual(['serving', 'serving', 'serving', 'serving']);
    expect(podsInUse(fleet)).toHaveLength(120);
    expect(fleet.views.map((view) => view.addressesInUse.size)).toEqual([32, 32, 32, 32]);
    expect(fleet.views.map((view) => view.waits.count)).toEqual([30, 30, 30, 30]);
    expect(fleet.violations).toEqual([]);
    expect(bugs).toEqual([]);
  });

  test('gains and releases addresses with the load for hours, and no pod loses one', async () => {
    const { fleet, operator, run, bugs } = await rig([...both, ...both]);

    await run(
      [
        { ...steady, duration: 100 * minute },
        { kind: 'burst', name: 'burst', at: 20 * minute, pods: 100, over: minute, lifetime: 10 * minute },
        { kind: 'burst', name: 'again', at: 50 * minute, pods: 100, over: minute, lifetime: 5 * minute },
        {
          kind: 'rolling-deploy',
          name: 'deploy',
          replicas: 20,
          every: 15 * minute,
          surge: 5,
          settle: 20_000,
        },
        { kind: 'steady', name: 'host', arrivalsPerMinute: 2, meanLifetime: minute, hostNetwork: true },
      ],
      2 * 60 * minute,
    );

    expect(fleet.violations).toEqual([]);
    expect(operator.taken).toEqual([]);
    expect(operator.released).toBeGreaterThan(50);
    expect(podsInUse(fleet).filter((pod) => pod.includes('host'))).toEqual([]);
    expect(fleet.views.flatMap((view) => [...view.missingAddresses])).toEqual([]);
    expect(bugs).toEqual([]);
  });

  test('restarts and upgrades agents and replaces nodes, and no pod loses an address', async () => {
    const { fleet, operator, run, bugs } = await rig([
      'crd-allocator',
      'crd-allocator',
      'crd-allocator',
      'multi-pool',
    ]);

    await run(
      [
        steady,
        { kind: 'agent-restarts', name: 'restarts', every: 4 * minute },
        { kind: 'rolling-upgrade', name: 'upgrade', at: 20 * minute, every: 10 * minute },
        { kind: 'node-churn', name: 'churn', every: 17 * minute },
      ],
      90 * minute,
    );

    expect(fleet.views.map((view) => [view.protocol, view.phase])).toEqual(
      Array.from({ length: 4 }, () => ['multi-pool', 'serving']),
    );
    expect(fleet.views.filter((view) => view.nodeName.startsWith('node-new-')).length).toBeGreaterThan(0);
    expect(fleet.violations).toEqual([]);
    expect(operator.taken).toEqual([]);
    expect(bugs).toEqual([]);
  });

  test('keeps every pod and its address through an upgrade in place', async () => {
    const { cluster, fleet, run } = await rig(['crd-allocator']);
    await run([{ kind: 'burst', name: 'burst', at: 0, pods: 20, over: 1_000 }], 3 * minute);
    const before = new Map(fleet.view('node-0').addressesInUse);

    const upgraded = fleet.changeAgent('node-0', 'multi-pool');
    await cluster.clock.advance(1_000);
    const meanwhile = new Map(fleet.view('node-0').addressesInUse);
    const phaseMeanwhile = fleet.view('node-0').phase;
    await cluster.clock.advance(2 * minute);
    await upgraded;

    const { protocol, phase, addressesInUse } = fleet.view('node-0');
    expect([protocol, phase]).toEqual(['multi-pool', 'serving']);
    expect(phaseMeanwhile).toBe('stopped');
    expect(meanwhile).toEqual(before);
    expect(addressesInUse).toEqual(before);
    expect(fleet.violations).toEqual([]);
  });
});

describe('a node that is removed', () => {
  test('takes its pods and objects along, and uses no address afterwards', async () => {
    const { cluster, fleet, run } = await rig(both);
    await run([{ kind: 'burst', name: 'b', at: 0, pods: 6, over: 0 }], minute);
    const { addressesInUse } = fleet.view('node-0');
    const before = addressesInUse.size;

    const removed = fleet.removeNode('node-0');
    await cluster.clock.advance(0);
    await removed;

    const left = ['nodes', 'ciliumnodes.cilium.io'].flatMap((path) =>
      cluster.model.list(path).map(({ metadata }) => metadata.name),
    );
    expect([before, addressesInUse.size]).toEqual([5, 0]);
    expect(left).toEqual(['node-1', 'node-1']);
    expect(cluster.model.list('pods')).toHaveLength(3);
    expect(fleet.views.map((view) => view.nodeName)).toEqual(['node-1']);
    expect(fleet.waits.count).toBe(6);
  });
});

describe('the report of a fleet to a checker', () => {
  test.each(both)('shows an address in use that is taken away from an agent of the %s', async (protocol) => {
    const { cluster, fleet, run } = await rig([protocol]);
    await run([{ kind: 'burst', name: 'b', at: 0, pods: 1, over: 0 }], minute);
    const inUse = [...fleet.view('node-0').addressesInUse];
    const [address, pod] = inUse.find(([, owner]) => owner.includes('/')) ?? ['', ''];

    await cluster.patchStatus({ eni: { enis: { 'eni-10.1': { addresses: [] } } } }, 'node-0');
    await cluster.patchSpec({ ipam: { pool: { [address]: null } } }, 'node-0');
    await cluster.clock.advance(500);

    expect(fleet.violations.filter((violation) => violation.pod === pod)).toMatchObject([
      { node: 'node-0', address, what: 'address-vanished' },
    ]);
  });

  test('keeps what happened on a node that is gone', async () => {
    const { cluster, fleet, run } = await rig(['multi-pool', 'multi-pool']);
    await run([{ kind: 'burst', name: 'b', at: 0, pods: 2, over: 0 }], minute);
    await cluster.patchStatus({ eni: { enis: null } }, 'node-0');
    await cluster.clock.advance(500);
    const before = fleet.violations;

    const removed = fleet.removeNode('node-0');
    await cluster.clock.advance(0);
    await removed;

    expect(before.length).toBeGreaterThan(0);
    expect(fleet.violations).toEqual(before);
    expect(() => fleet.view('node-0')).toThrow(RangeError);
  });

  test('shows an address that two nodes use', async () => {
    const { cluster, fleet } = await rig(both);
    const [stolen = ''] = fleet.view('node-0').addressesInUse.keys();
    const only = { 'eni-10.2': { addresses: [stolen] } };
    await cluster.patchStatus({ eni: { enis: only } }, 'node-1');
    await cluster.clock.advance(500);
    for (let index = 0; index < 20; index++) await fleet.createPod({ name: `p${index}`, nodeName: 'node-1' });
    await cluster.clock.advance(400);

    expect(fleet.violations.map((violation) => violation.what)).toContain('used-on-two-nodes');
  });

  test('shows pending pods, and since when they wait', async () => {
    const { cluster, fleet } = await rig(['crd-allocator']);
    const start = cluster.clock.monotonic();

    for (let index = 0; index < 40; index++) await fleet.createPod({ name: `p${index}`, nodeName: 'node-0' });
    await cluster.clock.advance(500);

    const { pendingPods, waits } = fleet.view('node-0');
    expect(pendingPods.size + waits.count).toBe(40);
    expect(pendingPods.size).toBeGreaterThan(20);
    for (const since of pendingPods.values()) {
      expect(since - start).toBeGreaterThanOrEqual(0);
      expect(since - start).toBeLessThan(100);
    }
  });
});

describe('the history of a fleet', () => {
  const workloads: readonly Workload[] = [
    steady,
    { kind: 'agent-restarts', name: 'restarts', every: 4 * minute },
    { kind: 'rolling-upgrade', name: 'upgrade', at: 5 * minute, every: 5 * minute },
    { kind: 'node-churn', name: 'churn', every: 7 * minute },
  ];

  async function historyOf(seed: string): Promise<string> {
    const { events, run, cluster } = await rig([...both, ...both], seed);
    await run(workloads, 30 * minute);
    return `${events.map((event) => JSON.stringify(event)).join('\n')}\n${cluster.model.revision}`;
  }

  test('is the same for the same seed, and another one for another seed', async () => {
    const [first, second, other] = [await historyOf('one'), await historyOf('one'), await historyOf('two')];

    expect(first.length).toBeGreaterThan(10_000);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });
});
