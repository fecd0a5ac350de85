import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Release, Releases } from '../../../src/node/address-release.ts';
import { type CandidateFacts, holdingsOn, releaseCandidates } from '../../../src/node/release-candidates.ts';
import { attachment } from '../providers/interfaces.ts';
import { eni, requirements, view } from './allocation-facts.ts';

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
    aside: new Set<string>(),
    ...change,
  };
  return releaseCandidates(facts).map(({ id }) => id);
}

function releasing(ids: readonly string[], kind: 'excess' | 'asked' | 'leaving'): Releases {
  const holdings = interfaces.flatMap(holdingsOn).filter(({ id }) => ids.includes(id));
  const phase = kind === 'excess' ? { kind, since: 0 } : { kind };
  return new Map(
    holdings.map((holding): [string, Release] => [holding.id, { holding, protocol: 'crd', phase }]),
  );
}

const [a = '', b = '', c = ''] = interfaces[0]?.addresses ?? [];
const d = one?.[2] ?? '';
const [, e = '', f = ''] = two ?? [];
const block = '10.9.0.0/28';

describe('what a node can do without', () => {
  test.each<[string, Partial<CandidateFacts>, string[]]>([
    ['nothing', { excess: 0 }, []],
    ['the emptiest interface first', { excess: 2 }, [a, b]],
    ['then the next', { excess: 5 }, [a, b, c, e, f]],
    ['then the fullest', { excess: 6 }, [a, b, c, e, f, d]],
    ['a prefix where a whole one is too much', {}, [a, b, c, e, f, block, d]],
    ['no prefix where it is not', { excess: 20 }, [a, b, c, e, f, d]],
    [
      'no prefix of which one address is in use',
      { isUsed: (address) => inUse.has(address) || address === '10.9.0.5' },
      [a, b, c, e, f, d],
    ],
    ['nothing that its agent has just refused', { excess: 2, aside: new Set([a]) }, [b, c]],
    ['what it was asked for before', { excess: 2, releases: releasing([d], 'asked') }, [d, a]],
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
  ])('%s', (_, change, expected) => {
    expect(candidates(change)).toEqual(expected);
  });

  test('among interfaces with no address in use, the last one goes first', () => {
    const items = [eni(0, 1), eni(1, 1)];

    expect(candidates({ view: view(items), excess: 1, isUsed: () => false })).toEqual(items[1]?.addresses);
  });

  test('never the primary address, which pods may have too', () => {
    const item = eni(0, 0);

    expect(
      candidates({
        view: view([{ ...item, addresses: [item.primaryAddress] }]),
        requirements: requirements({ usePrimaryAddress: true }),
      }),
    ).toEqual([]);
  });

  test('never more than the excess, never anything in use', () => {
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
            aside: new Set<string>(),
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
