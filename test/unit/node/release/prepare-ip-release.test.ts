import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { ReleaseState } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import type { Release, Releases } from '../../../../src/node/release/release-state.ts';
import { secondaryHoldings, primaryOn } from '../../../../src/node/demand/holdings.ts';
import type { NodeRequirements } from '../../../../src/node/demand/node-requirements.ts';
import {
  type CandidateFacts,
  recoverReleases,
  releaseCandidates,
  retiredCandidates,
} from '../../../../src/node/release/prepare-ip-release.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { attachment } from '../../providers/interfaces.ts';
import { eni, requirements, view } from '../allocation-facts.ts';
import { nodeOf, type NodeParts } from '../cilium-nodes.ts';

/** Interfaces 0, 1 and 2 with 3 addresses each, of which 0, 2 and 1 are in use, and a prefix on the last. */
const interfaces = [eni(0, 3), eni(1, 3), eni(2, 3, { prefixes: ['10.9.0.0/28'] })];
const [, one, two] = interfaces.map((item) => item.addresses);
const inUse = new Set([...(one?.slice(0, 2) ?? []), ...(two?.slice(0, 1) ?? [])]);

function candidates(change: Partial<CandidateFacts> = {}): string[] {
  const facts = {
    view: view(interfaces),
    requirements: requirements(),
    excess: 100,
    isUsed: (address: string) => inUse.has(address),
    releases: new Map(),
    blocked: new Set<string>(),
    ...change,
  };
  return releaseCandidates(facts).map(({ id }) => id);
}

function releasing(ids: readonly string[], kind: 'excess' | 'asked' | 'leaving'): Releases {
  const holdings = interfaces.flatMap(secondaryHoldings).filter(({ id }) => ids.includes(id));
  const phase = kind === 'excess' ? { kind, since: 0 } : { kind };
  return new Map(
    holdings.map((holding): [string, Release] => [holding.id, { holding, protocol: 'crd', phase }]),
  );
}

const [a = '', b = '', c = ''] = interfaces[0]?.addresses ?? [];
const d = one?.[2] ?? '';
const [, e = '', f = ''] = two ?? [];
const block = '10.9.0.0/28';

describe('the addresses that a node can spare', () => {
  test.each<[string, Partial<CandidateFacts>, string[]]>([
    ['nothing', { excess: 0 }, []],
    ['the emptiest interface first', { excess: 2 }, [a, b]],
    ['then the next', { excess: 5 }, [a, b, c, e, f]],
    ['then the fullest', { excess: 6 }, [a, b, c, e, f, d]],
    ['a prefix if a whole one is too much', {}, [a, b, c, e, f, block, d]],
    ['no prefix if it is not', { excess: 20 }, [a, b, c, e, f, d]],
    [
      'no prefix of which one address is in use',
      { isUsed: (address) => inUse.has(address) || address === '10.9.0.5' },
      [a, b, c, e, f, d],
    ],
    ['nothing that its agent has just refused', { excess: 2, blocked: new Set([a]) }, [b, c]],
    ['the addresses asked for before', { excess: 2, releases: releasing([d], 'asked') }, [d, a]],
    ['what was noticed before', { excess: 2, releases: releasing([d, f], 'excess') }, [f, d]],
    ['nothing that is leaving already', { excess: 2, releases: releasing([a], 'leaving') }, [b, c]],
    [
      "nothing of an interface that is no pod's",
      { requirements: requirements({ firstInterfaceIndex: 1 }), excess: 2 },
      [e, f],
    ],
    [
      'nothing of an interface that is not attached',
      { view: view([eni(0, 3, { attachment: attachment({ deviceIndex: 0, state: 'detaching' }) })]) },
      [],
    ],
  ])('are %s', (_, change, expected) => {
    expect(candidates(change)).toEqual(expected);
  });

  test('go from the last interface first, among interfaces with no address in use', () => {
    const items = [eni(0, 1), eni(1, 1)];

    expect(candidates({ view: view(items), excess: 1, isUsed: () => false })).toEqual(items[1]?.addresses);
  });

  test('never include the primary address, even when pods may have it', () => {
    const item = eni(0, 0);

    expect(
      candidates({
        view: view([{ ...item, addresses: [item.primaryAddress] }]),
        requirements: requirements({ usePrimaryAddress: true }),
      }),
    ).toEqual([]);
  });

  test('never exceed the excess, and are never in use', () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.subarray(interfaces.flatMap((item) => [...item.addresses, '10.9.0.3'])),
        (excess, used) => {
          const facts = {
            view: view(interfaces),
            requirements: requirements(),
            excess,
            releases: new Map(),
            blocked: new Set<string>(),
          };
          const chosen = releaseCandidates({ ...facts, isUsed: (address) => used.includes(address) }).flatMap(
            ({ addresses }) => addresses,
          );

          expect(chosen.length).toBeLessThanOrEqual(excess);
          expect(chosen.filter((address) => used.includes(address))).toEqual([]);
        },
      ),
    );
  });
});

describe('the addresses that pods must no longer have', () => {
  const retired = interfaces.flatMap((item) => [...secondaryHoldings(item).slice(0, 1), primaryOn(item)]);

  function leaving(change: Partial<Parameters<typeof retiredCandidates>[0]> = {}): string[] {
    const facts = {
      retired,
      isUsed: () => false,
      releases: new Map(),
      blocked: new Set<string>(),
      ...change,
    };
    return retiredCandidates(facts).map(({ id }) => id);
  }

  const primaries = ['10.0.0.4', '10.0.1.4', '10.0.2.4'];
  const [first, [second = ''] = [], [third = ''] = []] = [a, one, two];

  test.each<[string, Parameters<typeof leaving>[0], string[]]>([
    ['all of it, primary addresses too', {}, [first, '10.0.0.4', second, '10.0.1.4', third, '10.0.2.4']],
    ['nothing in use', { isUsed: (address) => inUse.has(address) }, [first, ...primaries]],
    [
      'no primary address in use',
      { isUsed: (address) => primaries.includes(address) },
      [first, second, third],
    ],
    ['nothing that its agent has just refused', { blocked: new Set([first, second, third]) }, primaries],
    [
      'not the addresses asked for before',
      { releases: releasing([first], 'asked') },
      [first, '10.0.0.4', second, '10.0.1.4', third, '10.0.2.4'],
    ],
    [
      'nothing that is leaving already',
      { releases: releasing([first, second], 'leaving') },
      ['10.0.0.4', '10.0.1.4', third, '10.0.2.4'],
    ],
  ])('leave the node, whatever it needs: %s', (_, change, expected) => {
    expect(leaving(change)).toEqual(expected);
  });
});

describe('a release that an earlier process started', () => {
  const at = 1_000_000;
  const item = eni(0, 3, { prefixes: [block] });
  const [x = '', y = '', z = ''] = item.addresses;
  const members = expandBlock(block);
  const all = (state: ReleaseState): Readonly<Record<string, ReleaseState>> =>
    Object.fromEntries(members.map((address) => [address, state]));
  const entry = { resource: 'eni-0' };

  function recovered(
    parts: NodeParts,
    items = [item],
    change: Partial<NodeRequirements> = {},
  ): readonly (readonly [string, string])[] {
    const releases = recoverReleases(
      { node: nodeOf(parts), view: view(items), requirements: requirements(change) },
      at,
    );
    for (const { phase } of releases.values()) if ('since' in phase) expect(phase.since).toBe(at);
    const held = items.flatMap((each) => secondaryHoldings(each));
    for (const { holding } of releases.values())
      for (const each of held) if (each.id === holding.id) expect(holding.interfaceId).toBe(each.interfaceId);
    return [...releases.values()].map(({ holding, phase }) => [holding.id, phase.kind]);
  }

  test.each<[string, NodeParts, readonly (readonly [string, string])[]]>([
    ['nothing', {}, []],
    [
      'it asked, and the agent has not answered yet',
      { handshake: { [x]: 'marked-for-release' } },
      [[x, 'asked']],
    ],
    [
      'it asked, the agent agreed, and still sees it in the pool',
      { handshake: { [x]: 'ready-for-release' }, pool: { [x]: entry } },
      [[x, 'leaving']],
    ],
    [
      'it asked, the agent agreed, and still sees it on the interface',
      { handshake: { [x]: 'ready-for-release' }, enis: { 'eni-0': [x] } },
      [[x, 'leaving']],
    ],
    [
      'it may have sent its call for what is hidden',
      { handshake: { [x]: 'ready-for-release' } },
      [[x, 'unanswered']],
    ],
    ['it asked, and the agent refused', { handshake: { [x]: 'do-not-release' } }, []],
    [
      'it asked for several',
      {
        handshake: { [z]: 'ready-for-release', [x]: 'do-not-release', [y]: 'marked-for-release' },
        pool: { [z]: entry },
      },
      [
        [z, 'leaving'],
        [y, 'asked'],
      ],
    ],
    ['it asked for a prefix', { handshake: all('marked-for-release') }, [[block, 'asked']]],
    [
      'the agent agrees to a prefix, and still sees an address of it',
      { handshake: all('ready-for-release'), pool: { '10.9.0.7': entry } },
      [[block, 'leaving']],
    ],
    [
      'it may have sent its call for a hidden prefix',
      { handshake: all('ready-for-release') },
      [[block, 'unanswered']],
    ],
    [
      'the agent answered for a part of a prefix',
      { handshake: { ...all('ready-for-release'), '10.9.0.7': 'marked-for-release' } },
      [[block, 'asked']],
    ],
    [
      'only a part of a prefix was asked for',
      { handshake: { '10.9.0.7': 'ready-for-release' } },
      [[block, 'asked']],
    ],
    [
      'one address of a prefix is in use',
      { handshake: { ...all('ready-for-release'), '10.9.0.7': 'do-not-release' } },
      [],
    ],
    [
      'it reported one as released, and it is gone',
      { handshake: { '10.0.9.9': 'released' } },
      [['10.0.9.9', 'released']],
    ],
    [
      'the agent agreed, and it is gone already: the agent still has to learn that',
      { handshake: { '10.0.9.9': 'ready-for-release' } },
      [['10.0.9.9', 'released']],
    ],
    ['it is gone, and was only asked for', { handshake: { '10.0.9.9': 'marked-for-release' } }, []],
    ['it is gone, and the agent had refused', { handshake: { '10.0.9.9': 'do-not-release' } }, []],
    [
      'it reported one as released, and it is there again',
      { handshake: { [x]: 'released' } },
      [[x, 'released']],
    ],
    [
      'it reported one as released, and it is in use',
      { handshake: { [x]: 'released' }, used: { [x]: entry } },
      [],
    ],
    ['the agent agreed, and uses it', { handshake: { [x]: 'ready-for-release' }, used: { [x]: entry } }, []],
  ])('continues, with an agent that is asked: %s', (_, parts, expected) => {
    expect(recovered(parts)).toEqual(expected);
  });

  test.each<[string, NodeParts, readonly (readonly [string, string])[]]>([
    ['the agent has not reported what it holds', { allocated: [] }, []],
    ['everything is shown', { allocated: [x], pool: { [y]: entry, [z]: entry, '10.9.0.3': entry } }, []],
    ['everything is held', { allocated: [x, y, z, block] }, []],
    ['shown by an interface, not in the pool', { allocated: [x], enis: { 'eni-0': [y, z, ...members] } }, []],
    ['neither shown nor held', { allocated: [x, block], pool: { [y]: entry } }, []],
    ['a prefix that is neither shown nor held', { allocated: [x, y, z] }, []],
    ['a prefix of which one address is held alone', { allocated: [x, y, z, '10.9.0.15/32'] }, []],
    [
      'a handshake of the agent before it',
      { allocated: [x, y, z, block], handshake: { [x]: 'ready-for-release' } },
      [],
    ],
  ])('does not continue, with an agent that is not asked: %s', (_, parts, expected) => {
    expect(recovered(parts)).toEqual(expected);
  });

  test.each<[string, NetworkInterface, Partial<NodeRequirements>]>([
    ['is for something else', { ...item, reservedFor: 'trunk' }, {}],
    ['is below first-interface-index', item, { firstInterfaceIndex: 1 }],
    [
      'carries the tags that exclude it',
      { ...item, tags: { role: 'storage' } },
      { excludeInterfaceTags: { role: 'storage' } },
    ],
  ])('continues, with an agent that is asked, on an interface that %s', (_, each, change) => {
    expect(recovered({ allocated: ['10.0.9.1'] }, [each], change)).toEqual([]);
    expect(recovered({ handshake: { [x]: 'ready-for-release' } }, [each], change)).toEqual([[x, 'leaving']]);
  });

  test.each<[string, readonly (readonly [string, string])[]]>([
    ['ready-for-release', [['10.0.9.9', 'unanswered']]],
    ['released', [['10.0.9.9', 'released']]],
    ['marked-for-release', []],
  ])(
    'waits for the end of a change that may have taken an address, and for the first read: %s',
    (state, expected) => {
      const handshake = { '10.0.9.9': state as ReleaseState };
      const unread = { ...view([item]), unseen: new Set([item.id]) };
      const releases = recoverReleases(
        { node: nodeOf({ handshake }), view: unread, requirements: requirements() },
        at,
      );

      expect(recovered({ handshake }, [{ ...item, condition: 'changing' }])).toEqual(expected);
      expect([...releases.values()].map(({ holding, phase }) => [holding.id, phase.kind])).toEqual(expected);
    },
  );

  test('does not continue on an interface that is leaving its instance', () => {
    const each = { ...item, attachment: attachment({ deviceIndex: 0, state: 'detaching' }) };

    expect(recovered({ allocated: ['10.0.9.1'] }, [each])).toEqual([]);
    expect(recovered({ handshake: { [x]: 'ready-for-release' } }, [each])).toEqual([]);
  });

  test('includes a primary address only when pods must no longer have it', () => {
    const { primaryAddress } = item;
    const twice = { ...item, addresses: [...item.addresses, primaryAddress] };
    const handshake = { [primaryAddress]: 'marked-for-release' } as const;

    expect(recovered({ allocated: [x, y, z, block] }, [twice])).toEqual([]);
    expect(recovered({ handshake }, [item], { usePrimaryAddress: true })).toEqual([]);
    expect(recovered({ handshake })).toEqual([[primaryAddress, 'asked']]);
  });

  test('sends no call for a hidden primary address', () => {
    const { primaryAddress } = item;

    expect(recovered({ handshake: { [primaryAddress]: 'ready-for-release' } })).toEqual([
      [primaryAddress, 'leaving'],
    ]);
  });
});
