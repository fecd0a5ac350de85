import { describe, expect, test } from '@jest/globals';
import type { ReadOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import { NodeState } from '../../../../src/node/reconcile/node-state.ts';
import type { NodeContext } from '../../../../src/node/reconcile/node-context.ts';
import type { NodeEvent } from '../../../../src/node/reconcile/node-event.ts';
import type { CloudTraits } from '../../../../src/providers/contract/cloud.ts';
import { scriptedImplementation, traits } from '../../providers/scripted-implementation.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { awaitedAttachment, eni, infrastructure, m5Large, subnet, view } from '../allocation-facts.ts';
import { nodeOf } from '../cilium-nodes.ts';

function rig(change: CloudTraits['change'] = 'perInterface') {
  const facts = {
    view: view([eni(0, 5)]),
    infrastructure: infrastructure([subnet('subnet-1')], { networkIds: new Set(['vpc-1']) }),
    limits: m5Large as ReturnType<NodeContext['cloud']['limits']['get']>,
    outgoing: new Set<string>() as ReadonlySet<string>,
  };
  const node = nodeOf({});
  const section = { ...node.section, zone: 'us-west-1a', firstInterfaceIndex: 0 };
  const context: unknown = {
    cloud: {
      implementation: scriptedImplementation({ traits: { ...traits, change } }),
      inventory: { view: () => facts.view },
      network: {
        get infrastructure() {
          return facts.infrastructure;
        },
      },
      limits: { get: () => facts.limits },
      supply: { orphans: { of: () => undefined } },
    },
    fleet: { identities: { isKnown: false } },
    writer: { schema: { knows: () => true } },
    runtime: { clock: new VirtualClock() },
    settings: {
      assessment: { usePrimaryAddress: false, prefixDelegation: false, networkId: undefined },
    },
  };
  const state = new NodeState({ ...node, section }, 'i-1', context as NodeContext);
  Object.defineProperty(state.releases, 'outgoing', { get: () => facts.outgoing });
  return { state, facts };
}

describe('the state of a node', () => {
  test('is assessed once while nothing changes', () => {
    const { state } = rig();

    const first = state.assess();

    expect(first).toMatchObject({ kind: 'served', usage: { available: 5 } });
    expect(state.assess()).toBe(first);
  });

  test.each<[string, (setup: ReturnType<typeof rig>) => void, object]>([
    ['what the cloud shows', ({ facts }) => (facts.view = view([eni(0, 7)])), { usage: { available: 7 } }],
    ['pods that wait', ({ state }) => (state.pendingPods = 3), { usage: { pendingPods: 3 } }],
    [
      'an address that is being released',
      ({ facts }) => (facts.outgoing = new Set(facts.view.interfaces[0]?.addresses)),
      { usage: { available: 0 } },
    ],
    [
      'the object',
      ({ state }) => (state.node = { ...state.node, ipam: { ...state.node.ipam, minAllocate: 9 } }),
      { needed: 4 },
    ],
    ['the network', ({ facts }) => (facts.infrastructure = infrastructure([])), { kind: 'unread' }],
  ])('is assessed again when something else changes: %s', (_, change, expected) => {
    const setup = rig();
    setup.state.node = {
      ...setup.state.node,
      ipam: { ...setup.state.node.ipam, preAllocate: 0, minAllocate: 5, requested: [] },
    };
    setup.state.assess();

    change(setup);

    expect(setup.state.assess()).toMatchObject(expected);
  });

  test('lacks what an interface brings until a read shows it attached, and requests it only once', () => {
    const { state, facts } = rig();
    state.node = { ...state.node, ipam: { ...state.node.ipam, preAllocate: 12, requested: [] } };
    const interfaces = [eni(0, 5), eni(1, 7)];
    facts.view = { ...view(interfaces), awaited: new Map([['eni-1', awaitedAttachment()]]) };
    const awaiting = state.assess();
    const meanwhile = { released: state.forRelease()?.view.interfaces, idle: state.forIdleInterfaces() };

    facts.view = view(interfaces);
    const seen = state.assess();

    expect(awaiting).toMatchObject({ usage: { available: 5 }, needed: 7, wanted: 7, toAllocate: 0 });
    expect(meanwhile).toMatchObject({ released: [{ id: 'eni-0' }], idle: { inDeficit: true } });
    expect(seen).toMatchObject({ usage: { available: 12 }, needed: 0, wanted: 0, toAllocate: 0 });
  });

  test.each<[string, 'perInstance' | 'perInterface', (state: NodeState) => void, readonly string[]]>([
    ['nothing', 'perInstance', () => undefined, []],
    ['one interface, where each has changes of its own', 'perInterface', adds, ['eni-1']],
    ['all interfaces, where an instance changes as a whole', 'perInstance', adds, ['eni-0', 'eni-1']],
    ['all, while addresses leave', 'perInstance', takes, ['eni-0', 'eni-1']],
    ['all, while one gets a public address', 'perInstance', associates, ['eni-0', 'eni-1']],
  ])('says that our calls change %s', (_, change, begin, expected) => {
    const { state, facts } = rig(change);
    facts.view = view([eni(0), eni(1)]);

    begin(state);

    expect([...state.changedByUs].sort()).toEqual(expected);
  });

  test.each<[string, 'perInstance' | 'perInterface', (state: NodeState) => void, boolean]>([
    ['while nothing else happens', 'perInstance', () => undefined, false],
    ['while addresses are added', 'perInstance', adds, true],
    ['while addresses are taken', 'perInstance', takes, true],
    ['while addresses are being hidden', 'perInstance', strikes, true],
    ['while addresses are being hidden', 'perInterface', strikes, false],
  ])('knows whether a public address must wait: %s, %s', (_, change, begin, isBusy) => {
    const { state } = rig(change);
    state.node = { ...state.node, ipam: { ...state.node.ipam, staticIpTags: { pool: 'egress' } } };

    begin(state);

    expect(state.forStaticAddress()).toMatchObject({ isBusy });
  });

  test.each<[string, 'perInstance' | 'perInterface', (state: NodeState) => void, readonly string[]]>([
    ['any, while nothing else happens', 'perInstance', () => undefined, []],
    ['all, while addresses are being hidden', 'perInstance', strikes, ['eni-0', 'eni-1']],
    ['any, while addresses are being hidden', 'perInterface', strikes, []],
  ])('says to which interfaces nothing may be added: %s, %s', (_, change, begin, expected) => {
    const { state, facts } = rig(change);
    facts.view = view([eni(0), eni(1)]);

    begin(state);

    expect([...(state.forAllocation()?.shrinking ?? [])].sort()).toEqual(expected);
  });

  test('is assessed again once its instance type is read, and not before', () => {
    const { state, facts } = rig();
    facts.limits = 'unread';
    const before = state.assess();
    const meanwhile = state.assess();

    facts.limits = m5Large;

    expect([before.kind, state.assess().kind]).toEqual(['unread', 'served']);
    expect(meanwhile).toBe(before);
  });

  test('is reported once for each reason when it may not be read', async () => {
    const reported: string[] = [];
    const outcomes: ReadOutcome[] = [denied('may not'), denied('may not'), denied('still not'), gone];
    const context: unknown = {
      runtime: { clock: new VirtualClock() },
      cloud: { implementation: scriptedImplementation({}) },
      writer: { own: { get: () => Promise.resolve(outcomes.shift()) }, schema: { knows: () => true } },
      emit: (event: NodeEvent) =>
        event.kind === 'readTrouble' && reported.push(`${event.node.name}: ${event.problem}`),
    };
    const state = new NodeState(nodeOf({}), 'i-1', context as NodeContext);
    const { signal } = new AbortController();

    const reads = [1, 2, 3, 4].map(() => state.reread(signal));

    expect(await Promise.all(reads)).toEqual([false, false, false, false]);
    expect(reported).toEqual([`${nodeOf({}).name}: may not`, `${nodeOf({}).name}: still not`]);
  });
});

const gone: ReadOutcome = { kind: 'gone' };

function denied(message: string): ReadOutcome {
  return { kind: 'denied', message };
}

function adds({ growth }: NodeState): void {
  growth.steps.add({ kind: 'allocateIPs', interfaceId: 'eni-1', subnetId: 'subnet-1', count: 1 });
}

function takes({ releases }: NodeState): void {
  Object.defineProperty(releases, 'shrinking', { value: new Set(['eni-1']) });
}

function strikes({ releases }: NodeState): void {
  Object.defineProperty(releases, 'striking', { value: new Set(['eni-1']) });
}

function associates(state: NodeState): void {
  state.associating = 'eni-1';
}
