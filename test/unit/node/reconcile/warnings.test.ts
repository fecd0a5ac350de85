import { describe, expect, test } from '@jest/globals';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import { assess, type Assessment } from '../../../../src/node/conditions/assessment.ts';
import { detachingIn } from '../../../../src/node/allocate/allocation-plan.ts';
import type { NodeCondition } from '../../../../src/node/conditions/node-condition.ts';
import { Warnings } from '../../../../src/node/reconcile/warnings.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { InstanceView } from '../../../../src/providers/contract/facts.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { traits } from '../../providers/scripted-implementation.ts';
import { eni, infrastructure, m5Large, subnet, view } from '../allocation-facts.ts';
import { addresses, attachment } from '../../providers/interfaces.ts';
import { nodeOf, wellFormed } from '../cilium-nodes.ts';

const none: ReadonlySet<string> = new Set();
const implementation = { traits, section: awsSection };
const noPods = { kept: [], problem: undefined };

function assessed(node: CiliumNode, known: InstanceView, pendingPods: number): Assessment {
  const facts = {
    node,
    view: known,
    pendingPods,
    unreportedPods: pendingPods,
    outgoing: new Set<string>(),
    infrastructure: { ...infrastructure([subnet('subnet-1')]), networkIds: new Set(['vpc-1']) },
  };
  return assess(facts, {
    limitsOf: () => m5Large,
    options: { networkId: undefined, prefixDelegation: false, usePrimaryAddress: false },
    words: awsSection.words,
    traits,
    showsIpv6: true,
  });
}

/** Nothing else to warn of. */
const quiet = { changes: { explained: none }, staticIp: undefined, podUse: noPods };

/** What is said after a minute about an agent that wants 30 free addresses, on an m5.large without prefix delegation. */
async function warningsOf(interfaces: readonly NetworkInterface[]): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const found: NodeCondition[] = [];
  const node = wellFormed(
    ciliumNode({
      spec: {
        ipam: { pool: null, 'pre-allocate': 30, 'min-allocate': null, 'max-allocate': null, pools: null },
        eni: { 'first-interface-index': 0, 'vpc-id': 'vpc-1', 'instance-type': 'm5.large' },
      },
      status: null,
    }),
  );
  const known = view(interfaces);
  const assessment = assessed(node, { ...known, read: true }, 0);
  const warnings = new Warnings(implementation, {
    emit: (event) => event.kind === 'warning' && found.push(event.warning),
  });
  const update = (): unknown => warnings.step(node, { view: known, assessment, ...quiet }, clock.monotonic());

  update();
  await clock.advance(60_000);
  update();

  return found.map(({ reason }) => reason);
}

test.each<[string, readonly NetworkInterface[], readonly string[]]>([
  [
    'is reported once its node has all that the instance type can have',
    [eni(0, 9), eni(1, 9), eni(2, 9)],
    ['AgentCannotStart'],
  ],
  [
    'is not reported while its node may have more, because it has a prefix from before',
    [{ ...eni(0, 8), prefixes: ['10.0.9.16/28'] }, eni(1, 4)],
    [],
  ],
])('an agent that cannot start %s', async (_, interfaces, expected) => {
  expect(await warningsOf(interfaces)).toEqual(expected);
});

interface Moment {
  /** In s. */
  readonly at: number;
  readonly pods: number;
  /** Addresses in use, of the 9 that the pool has. */
  readonly used?: number;
}

/** What is reported, as `second reason`, and `second -` when it ends, while pods wait on a node with `size` addresses. */
async function reportsOn(moments: readonly Moment[], size = 9): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const found: string[] = [];
  const pool = addresses(size, 1);
  const interfaces = [eni(0), eni(1, size), eni(2)];
  let current = { pods: 0, used: 0 };
  const note = (what: string): number => found.push(`${clock.monotonic() / 1000} ${what}`);
  let cancel = (): void => undefined;
  const warnings = new Warnings(implementation, {
    emit: (event) => event.kind === 'warning' && note(event.warning.reason),
  });
  const update = (): void => {
    const before = warnings.list.length;
    const node = nodeOf({
      pool: Object.fromEntries(pool.map((address) => [address, { resource: 'eni-1' }])),
      enis: { 'eni-1': pool },
      used: Object.fromEntries(pool.slice(0, current.used).map((address) => [address, {}])),
    });
    const known = { ...view(interfaces), read: true };
    const assessment = assessed(node, known, current.pods);
    const { requeueAfter } = warnings.step(node, { view: known, assessment, ...quiet }, clock.monotonic());
    cancel();
    if (requeueAfter !== undefined) cancel = clock.schedule(requeueAfter, () => update());
    if (before > 0 && warnings.list.length === 0) note('-');
  };
  for (const { at, pods, used = 0 } of moments) {
    await clock.advance(at * 1000 - clock.monotonic());
    if (pods < current.pods) warnings.waitEnded(clock.monotonic());
    current = { pods, used };
    update();
  }
  await clock.advance(300_000);
  return found;
}

const untaken = 'FreeAddressesNotTaken';

test.each<[string, readonly Moment[], readonly string[]]>([
  ['are reported after a minute, once', [{ at: 1, pods: 2 }], [`61 ${untaken}`]],
  [
    'are not reported if they wait for less',
    [
      { at: 1, pods: 2 },
      { at: 60, pods: 0 },
    ],
    [],
  ],
  [
    'are reported until none waits',
    [
      { at: 1, pods: 2 },
      { at: 100, pods: 1 },
      { at: 130, pods: 0 },
    ],
    [`61 ${untaken}`, '130 -'],
  ],
  [
    'wait anew once one of them is served',
    [
      { at: 1, pods: 2 },
      { at: 50, pods: 1 },
      { at: 55, pods: 2 },
    ],
    [`110 ${untaken}`],
  ],
  [
    'are not reported while no address is free',
    [
      { at: 1, pods: 2, used: 9 },
      { at: 100, pods: 2, used: 8 },
      { at: 140, pods: 2, used: 9 },
    ],
    [],
  ],
  [
    'are reported once addresses have been free for a minute',
    [
      { at: 1, pods: 2, used: 9 },
      { at: 100, pods: 2, used: 8 },
    ],
    [`160 ${untaken}`],
  ],
])('pods that wait beside free addresses %s', async (_, moments, expected) => {
  expect(await reportsOn(moments)).toEqual(expected);
});

test('pods are not reported while their agent may wait for the first addresses', async () => {
  expect(await reportsOn([{ at: 1, pods: 2 }], 5)).toEqual([]);
});

test('an interface of which the condition of its node says that it is being detached has no warning that says otherwise', () => {
  const items = [1, 2].map((index) => eni(index, 0, { attachment: attachment({ state: 'detaching' }) }));
  const node = nodeOf({ pool: {}, enis: {}, used: {} });
  const known = { ...view(items), read: true };
  const shared = { view: known, staticIp: undefined, podUse: noPods };
  const facts = { ...shared, assessment: assessed(node, known, 1) };
  const warned = (ids: readonly string[], ofIpv6: readonly string[]): string => {
    const warnings = new Warnings(implementation, { emit: () => undefined });
    const obstacle = { kind: 'interfacesDetaching', interfaceIds: ids } as const;
    const ipv6 = { kind: 'unmet', obstacle: { ...obstacle, interfaceIds: ofIpv6 }, refusals: [] } as const;
    const explained = new Set(detachingIn({ obstacle, ipv6 }));
    for (const now of [0, 300_000]) warnings.step(node, { ...facts, changes: { explained } }, now);
    return warnings.list.map(({ reason, message }) => `${reason}: ${message}`).join();
  };

  expect([warned(['eni-1', 'eni-2'], []), warned(['eni-1'], ['eni-2'])]).toEqual(['', '']);
  expect(warned(['eni-1'], [])).toMatch(/InterfaceChanging: .* keeps changing eni-2,/);
});

describe('an interface that keeps changing while its node lacks addresses', () => {
  const minute = 60_000;
  const byUs = new Set(['eni-1']);
  const ready = eni(1);
  const changing = eni(1, 0, { condition: 'changing' });
  const detaching = eni(1, 0, { attachment: attachment({ state: 'detaching' }) });

  test.each<
    [string, readonly [at: number, item: NetworkInterface, explained: ReadonlySet<string>][], number]
  >([
    ['for five minutes is reported', [[0, changing, none]], 5 * minute],
    ['or is being detached for five minutes is reported', [[0, detaching, none]], 5 * minute],
    [
      'for less is not',
      [
        [0, changing, none],
        [5 * minute - 1, ready, none],
      ],
      Infinity,
    ],
    [
      'by a call of ours is not',
      [
        [0, changing, byUs],
        [9 * minute, ready, none],
      ],
      Infinity,
    ],
    [
      'for five minutes after a call of ours is reported',
      [
        [0, changing, byUs],
        [9 * minute, changing, none],
      ],
      14 * minute,
    ],
  ])('%s', async (_, moments, reportedAt) => {
    const clock = new VirtualClock();
    const found: [at: number, reason: string][] = [];
    const node = nodeOf({ pool: {}, enis: {}, used: {} });
    const warnings = new Warnings(implementation, {
      emit: (event) => event.kind === 'warning' && found.push([clock.monotonic(), event.warning.reason]),
    });
    let cancel = (): void => undefined;
    const update = (item: NetworkInterface, explained: ReadonlySet<string>): void => {
      cancel();
      const known = { ...view([item]), read: true };
      const facts = {
        view: known,
        assessment: assessed(node, known, 1),
        changes: { explained },
        staticIp: undefined,
        podUse: noPods,
      };
      const { requeueAfter } = warnings.step(node, facts, clock.monotonic());
      if (requeueAfter !== undefined) cancel = clock.schedule(requeueAfter, () => update(item, explained));
    };

    for (const [at, item, explained] of moments) {
      await clock.advance(at - clock.monotonic());
      update(item, explained);
    }
    await clock.advance(20 * minute);
    update(ready, none);

    expect(found).toEqual(reportedAt === Infinity ? [] : [[reportedAt, 'InterfaceChanging']]);
    expect(warnings.list).toEqual([]);
  });
});
