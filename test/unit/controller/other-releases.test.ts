import { describe, expect, test } from '@jest/globals';
import { parseNodeSelector } from '../../../src/config/node-selector.ts';
import { OtherReleases } from '../../../src/controller/other-releases.ts';
import {
  formerAnnotation,
  nodesChosenBy,
  otherReleases,
  selectorAnnotation,
} from '../../../src/controller/release-leases.ts';
import { MutationPermission, noPauses } from '../../../src/providers/gate/mutation-permission.ts';
import { optionsOf } from '../../support/given-options.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';

const annotation = selectorAnnotation('CiliumNodes');

function lease(name: string, at: string, selector?: string): JsonObject {
  const annotations = selector === undefined ? {} : { [annotation]: selector };
  return { metadata: { name, creationTimestamp: `2026-01-01T00:00:${at}Z`, annotations } };
}

describe('the other releases of a cluster', () => {
  const own = lease('own', '10', 'tier=pods');
  const of = (...others: JsonObject[]): unknown =>
    otherReleases([...others, own], 'own', annotation).map(({ lease: name, selector, isOlder }) => [
      name,
      selector?.text,
      isOlder,
    ]);

  test.each([
    ['an older Lease', lease('a', '09', 'x=1'), ['a', 'x=1', true]],
    ['a younger one', lease('a', '11', 'x=1'), ['a', 'x=1', false]],
    ['one of the same second, by its name', lease('a', '10', 'x=1'), ['a', 'x=1', true]],
    ['one of the same second, with a later name', lease('z', '10', 'x=1'), ['z', 'x=1', false]],
    ['one that chooses every node', lease('a', '09', ''), ['a', undefined, true]],
    [
      'one that cannot be read as one that chooses every node',
      lease('a', '09', '((('),
      ['a', undefined, true],
    ],
  ])('are found by %s', (_, other, found) => {
    expect(of(other)).toEqual([found]);
  });

  test('are no Leases of other programs, and not our own', () => {
    expect(of(lease('kube-scheduler', '01'), { metadata: {} }, {})).toEqual([]);
  });

  test('are all older while our own Lease is not in the list', () => {
    expect(otherReleases([lease('z', '59', 'x=1')], 'own', annotation)).toMatchObject([{ isOlder: true }]);
  });
});

test('our nodes are announced while no dry run is on, from the moment it ends', () => {
  const permission = new MutationPermission({ ...noPauses, dryRun: true });
  const annotated: (string | undefined)[] = [];
  const lease = { annotate: (_: string, text: string | undefined) => annotated.push(text) };
  const releases = new OtherReleases({
    host: { options: optionsOf({ 'node-selector': 'tier=pods' }), log: recordingLogger() },
    leadership: { permission, lease },
    served: 'CiliumNodes',
  } as never);

  // Not before it leads: the Lease still says which nodes the former leader chose.
  permission.change({ pause: ['mutations'] });
  releases.announce();
  permission.change({ dryRun: false });
  permission.change({ dryRun: true });

  expect(annotated).toEqual([undefined, 'tier=pods', undefined]);
});

/** Our Lease is the older one. Returns for how long we leave nodes to the younger release, in ms. */
async function waitsFor(
  younger: string,
  own: string,
  former: string | undefined,
): Promise<readonly number[]> {
  const waits: number[] = [];
  const leases = { items: [lease('own', '10', former), held(lease('younger', '11', younger))] };
  const flags = own === '' ? {} : { 'node-selector': own };
  const releases = new OtherReleases({
    host: {
      options: optionsOf({ ...flags, 'leader-election-lease-name': 'own' }),
      log: recordingLogger(),
      clock: new VirtualClock(),
      random: new Random('looks'),
    },
    kubernetes: { send: () => Promise.resolve({ status: 200, body: JSON.stringify(leases) }) },
    leadership: {
      permission: new MutationPermission(noPauses),
      lease: {
        annotate: () => undefined,
        annotation: (key: string) => (key === annotation ? former : undefined),
      },
    },
    scope: {
      isSelective: own !== '',
      setOthers: () => undefined,
      overlaps: () => [],
      awaitYounger: (_: unknown, wait: number) => waits.push(wait),
    },
    served: 'CiliumNodes',
  } as never);
  await releases.lookFirst(new AbortController().signal);
  return waits;
}

test.each([
  ['a minute if it has a selector, too', 'tier=pods', undefined, 70_000],
  ['ten minutes if it has none, and knew of no other release', '', undefined, 610_000],
  ['a minute if it has none, and knew of this one', '', 'tier=system', 70_000],
])('a younger release is given %s', async (_, younger, former, ms) => {
  expect(await waitsFor(younger, 'tier=pods', former)).toEqual([ms]);
});

test('a release without a selector does not wait for a younger one without a selector', async () => {
  expect(await waitsFor('', '', undefined)).toEqual([]);
});

test.each([
  ['Leases are listed, and show none', [{ status: 200, body: '{"items":[]}' }], true],
  ['what is no list is answered', [{ status: 200, body: '{}' }], false],
  ['no list of Leases is answered', [{ status: 500, body: '' }], false],
  ['no list of Leases is granted', [{ status: 403, body: '' }], false],
])(
  'the nodes of the former leader are forgotten where no younger release is: %s',
  async (_, replies, isForgotten) => {
    const clock = new VirtualClock();
    const annotated: (readonly [string, string | undefined])[] = [];
    const answers = [...replies];
    const releases = new OtherReleases({
      host: {
        options: optionsOf({ 'leader-election-lease-name': 'own' }),
        log: recordingLogger(),
        clock,
        random: new Random('looks'),
      },
      kubernetes: { send: () => Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]) },
      leadership: {
        permission: new MutationPermission(noPauses),
        lease: {
          annotate: (key: string, text: string | undefined) => annotated.push([key, text]),
          annotation: (key: string) => (key === annotation ? 'tier=pods' : undefined),
        },
      },
      scope: { isSelective: false, setOthers: () => undefined, overlaps: () => [] },
      served: 'CiliumNodes',
    } as never);
    const looked = releases.lookFirst(new AbortController().signal);
    await clock.advance(70_000);

    expect(await looked).toBeUndefined();
    expect(annotated.filter(([key]) => key === formerAnnotation('CiliumNodes')).at(-1)?.[1]).toBe(
      isForgotten ? undefined : 'tier=pods',
    );
  },
);

test.each([
  [200, '{"items":[{"metadata":{"name":"a"}}]}', { kind: 'listed', names: ['a'] }],
  [200, '{"items":[]}', { kind: 'listed', names: [] }],
  [200, '{"items":null}', { kind: 'listed', names: [] }],
  [200, '{}', { kind: 'unknown', problem: 'cannot list Nodes: the answer is no list of objects' }],
  [503, 'away', { kind: 'unknown', problem: 'cannot list Nodes (status 503): away' }],
  [403, 'no', { kind: 'unknown', problem: 'cannot list Nodes (status 403): no' }],
  [404, 'none', { kind: 'unknown', problem: 'cannot list Nodes: none' }],
] as const)('an answer of %s with %j shows which Nodes a selector chooses', async (status, body, chosen) => {
  const kubernetes = { send: () => Promise.resolve({ status, body }) } as never;
  const selector = parseNodeSelector('tier=pods');
  if (selector === undefined) throw new Error('it is no selector');

  expect(await nodesChosenBy(selector, kubernetes, new AbortController().signal)).toEqual(chosen);
});

function held(raw: JsonObject): JsonObject {
  return { ...raw, spec: { holderIdentity: 'somebody' } };
}
