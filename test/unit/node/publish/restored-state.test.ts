import { expect, test } from '@jest/globals';
import {
  formerReleases,
  givenUpAndHidden,
  restoredState,
  shownSince,
  isOfOtherInstance,
} from '../../../../src/node/publish/restored-state.ts';
import { isByName } from '../../../../src/providers/contract/network-interface.ts';
import { nodeOf, type NodeParts, restoring } from '../cilium-nodes.ts';

type Enis = Readonly<Record<string, readonly string[]>>;

test.each<[string, string, readonly string[], boolean]>([
  ['of the same instance is about itself', 'i-1', ['eni-1'], false],
  ['of another instance shows what the former one had', 'i-2', ['eni-1'], true],
  ['of another instance shows some of what the former one had', 'i-2', ['eni-1', 'eni-9'], true],
  ['of another shows what it has itself, as a leader before us knew', 'i-2', ['eni-2'], false],
  ['of another shows nothing yet', 'i-2', [], false],
])('the restored state of a CiliumNode %s', (_, instanceId, ids, expected) => {
  const before = { ...nodeOf({ enis: { 'eni-1': ['10.0.0.1'] } }), instanceId: 'i-1' };
  const enis = Object.fromEntries(ids.map((id) => [id, ['10.0.0.2']]));

  expect(isOfOtherInstance({ ...nodeOf({ enis }), instanceId }, before, restoring)).toBe(expected);
});

test.each<[string, string, readonly string[]]>([
  ['shows it as well', '10.0.0.1', ['10.0.0.1']],
  ['does not show it', '10.0.0.9', ['10.0.0.1', '10.0.0.9']],
  ['shows it on another interface, because a pool is written last', '10.0.0.2', ['10.0.0.1']],
])('an address of the pool is restored on its interface when the status %s', (_, address, expected) => {
  const enis = { 'eni-1': ['10.0.0.1'], 'eni-2': ['10.0.0.2'] };
  const node = nodeOf({ enis, pool: { [address]: { resource: 'eni-1' } } });

  const [first] = restoredState(node, 'i-1', restoring).interfaces;

  expect(first?.addresses).toEqual(expected);
});

test('an interface that only the pool names is restored from the pool, and is not new in a newer state', () => {
  const pool = {
    '10.0.0.1': { resource: 'eni-1' },
    '10.0.0.8': { resource: 'eni-2' },
    '10.0.0.9': { resource: 'eni-2' },
  };
  const node = nodeOf({ enis: { 'eni-1': ['10.0.0.1'] }, pool });

  const { interfaces } = restoredState(node, 'i-1', restoring);
  const before = nodeOf({ enis: { 'eni-1': ['10.0.0.1'] } });

  expect(interfaces.map(({ id, addresses }) => [id, ...addresses])).toEqual([
    ['eni-1', '10.0.0.1'],
    ['eni-2', '10.0.0.8', '10.0.0.9'],
  ]);
  expect(interfaces.map(isByName)).toEqual([false, true]);
  expect(shownSince(before, node, 'i-1', restoring)).toEqual([]);
});

test.each<[string, Enis, Enis]>([
  ['an address', { 'eni-1': ['10.0.0.1', '10.0.0.2'] }, { 'eni-1': ['10.0.0.2'] }],
  ['an interface', { 'eni-1': ['10.0.0.1'], 'eni-2': [] }, { 'eni-2': [] }],
  ['an address on another interface', { 'eni-1': [], 'eni-2': ['10.0.0.1'] }, { 'eni-2': ['10.0.0.1'] }],
  ['less', { 'eni-1': [] }, {}],
])('a newer state adds %s', (_, enis, expected) => {
  const before = nodeOf({ enis: { 'eni-1': ['10.0.0.1'] } });

  const shown = shownSince(before, nodeOf({ enis }), 'i-1', restoring);

  expect(Object.fromEntries(shown.map(({ id, addresses }) => [id, addresses]))).toEqual(expected);
});

test.each([
  ['of another instance is about the former one by its pool', 'i-2', true],
  ['of the same instance is about itself', 'i-1', false],
])('the restored state without a status of a CiliumNode %s', (_, instanceId, expected) => {
  const pool = { '10.0.0.1': { resource: 'eni-1' } };
  const before = { ...nodeOf({ enis: { 'eni-1': ['10.0.0.1'] }, pool }), instanceId: 'i-1' };

  expect(isOfOtherInstance({ ...nodeOf({ pool }), instanceId }, before, restoring)).toBe(expected);
});

const left = '10.0.0.1';
const handshake = { [left]: 'ready-for-release' };

test.each<[string, NodeParts, boolean]>([
  ['ready for release, and shown nowhere', { handshake }, true],
  ['ready for release, and still in the pool', { handshake, pool: { [left]: { resource: 'eni-1' } } }, false],
  ['ready for release, and still in the status', { handshake, enis: { 'eni-1': [left] } }, false],
  ['ready for release, and in use', { handshake, used: { [left]: { owner: 'default/pod' } } }, false],
  ['ready for release, to an agent that is no longer asked', { handshake, allocated: [] }, false],
  ['marked for release', { handshake: { [left]: 'marked-for-release' } }, false],
  ['refused', { handshake: { [left]: 'do-not-release' } }, false],
  ['released', { handshake: { [left]: 'released' } }, false],
  ['in no handshake', {}, false],
])('an address counts as released for good: it is %s', (_, parts, expected) => {
  expect(givenUpAndHidden(nodeOf(parts)).has(left)).toBe(expected);
});

test.each<[string, NodeParts, boolean, number]>([
  ['names them', {}, true, 0],
  ['does not name them, and releases are on', { allocated: ['10.0.0.1/32'] }, true, 30_000],
  ['does not name them, and releases are off', { allocated: ['10.0.0.1/32'] }, false, 0],
])(
  'releases of a former leader are open while calls may take effect: a CiliumNode that %s',
  (_, parts, enabled, openFor) => {
    const timing = { callTimeout: 30_000, consistencyWindow: 30_000 };

    expect(
      formerReleases(nodeOf(parts), { release: { enabled }, timing }, { change: 'perInstance' }).openFor,
    ).toBe(openFor);
  },
);
