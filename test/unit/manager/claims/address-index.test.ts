import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { AddressIndex } from '../../../../src/manager/claims/address-index.ts';
import type { ClaimEvidence } from '../../../../src/manager/claims/rival-claims.ts';

const network = 'vpc-1';

function indexOf(
  shown: Readonly<Record<string, readonly string[]>>,
  isOfSeveral = false,
): {
  index: AddressIndex;
  freed: string[];
} {
  const freed: string[] = [];
  const rivals = {
    evidence: (): ClaimEvidence => 'shown',
    now: () => 0,
    maxWait: 30_000,
    onWait: () => undefined,
  };
  const index = new AddressIndex((names) => freed.push(...names), rivals, isOfSeveral);
  for (const [name, addresses] of Object.entries(shown)) index.setOffered(name, network, addresses);
  return { index, freed };
}

describe('an address', () => {
  test.each<[string, Readonly<Record<string, readonly string[]>>, 'withheld' | 'shared' | 'free']>([
    ['that no node shows', {}, 'free'],
    ['that the node itself shows', { a: ['x'] }, 'free'],
    ['that another node shows', { b: ['x'] }, 'withheld'],
    ['that both show', { a: ['x'], b: ['x'] }, 'shared'],
    ['that the node and two others show', { a: ['x'], b: ['x'], c: ['x'] }, 'shared'],
  ])('%s has the expected state', (_, shown, expected) => {
    const { index } = indexOf(shown);

    const { excluded, shared } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    const others = Object.keys(shown).filter((name) => name !== 'a');
    expect([...excluded]).toEqual(expected === 'withheld' ? [['x', others]] : []);
    expect([...shared]).toEqual(expected === 'shared' ? [['x', others]] : []);
  });

  test('is kept from a third node while one of the two that showed it claims it', () => {
    const { index } = indexOf({ a: ['x'], b: ['x'] });
    index.claim({ name: 'a', networkId: network, addresses: ['x'] });
    index.setOffered('a', network, []);
    index.setOffered('b', network, []);

    const { excluded } = index.claim({ name: 'c', networkId: network, addresses: ['x'] });

    expect([...excluded]).toEqual([['x', ['a']]]);
  });

  test.each(['withheld', 'shared'])('is announced once the other node drops it, after it was %s', (how) => {
    const { index, freed } = indexOf({ ...(how === 'shared' && { a: ['x'] }), b: ['x'] });
    index.claim({ name: 'a', networkId: network, addresses: ['x'] });
    const before = [...freed];

    index.setOffered('b', network, []);

    expect(before).toEqual([]);
    expect(freed).toEqual(['a']);
  });

  test('is granted to a node that claimed it, or had it from a previous leader', () => {
    const { index } = indexOf({ a: ['x'], b: ['x'] });
    index.grantOffered('a');
    index.claim({ name: 'c', networkId: network, addresses: ['z'] });

    const granted = ['a', 'b', 'c', 'd'].map((name) => index.grantedOf(name, ['x', 'y', 'z']));

    expect(granted).toEqual([['x'], [], ['z'], []]);
  });

  test('is free when only another network shows it', () => {
    const { index } = indexOf({});
    index.setOffered('b', 'vpc-2', ['x']);

    const { excluded, shared } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    expect(excluded.size + shared.size).toBe(0);
  });

  test('is withheld when another network shows it, where addresses of one node may be of several', () => {
    const { index } = indexOf({}, true);
    index.setOffered('b', 'vpc-2', ['x']);

    const { excluded } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    expect([...excluded]).toEqual([['x', ['b']]]);
  });
});

// On Azure, no agent says in which network its node is.
describe('an address that a node of an unknown network shows', () => {
  const unknown = '';

  test('is withheld from the nodes of every network', () => {
    const { index } = indexOf({});
    index.setOffered('b', unknown, ['x']);

    const claims = ['vpc-1', 'vpc-2'].map((networkId) =>
      index.claim({ name: 'a', networkId, addresses: ['x'] }),
    );

    expect(claims.map(({ excluded }) => [...excluded])).toEqual([[['x', ['b']]], [['x', ['b']]]]);
  });

  test('is withheld in the network that the node claims addresses in, and in no other', () => {
    const { index } = indexOf({});
    index.setOffered('b', unknown, ['x']);
    index.claim({ name: 'b', networkId: network, addresses: ['x'] });

    const [here, elsewhere] = [network, 'vpc-2'].map((networkId) =>
      index.claim({ name: 'a', networkId, addresses: ['x'] }),
    );

    expect([here?.excluded.size, elsewhere?.excluded.size]).toEqual([1, 0]);
  });

  test('is withheld as long as the node shows it, although the node no longer claims it', () => {
    const { index } = indexOf({});
    index.claim({ name: 'b', networkId: network, addresses: ['x'] });
    index.setOffered('b', unknown, ['x']);
    index.claim({ name: 'b', networkId: network, addresses: [] });
    const claim = () => index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    const before = claim();
    index.setOffered('b', unknown, []);

    expect([before, claim()].map(({ excluded }) => excluded.size)).toEqual([1, 0]);
  });

  test('is still claimed by the node after its CiliumNode has changed', () => {
    const { index } = indexOf({});
    index.claim({ name: 'b', networkId: network, addresses: ['x'] });

    index.setOffered('b', unknown, []);

    const { excluded } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });
    expect([...excluded]).toEqual([['x', ['b']]]);
  });

  test('stays the own one of the node', () => {
    const { index } = indexOf({});
    index.setOffered('a', unknown, ['x']);
    index.setOffered('b', network, ['x']);

    const { shared, excluded } = index.claim({ name: 'a', networkId: network, addresses: ['x'] });

    expect([[...shared], excluded.size]).toEqual([[['x', ['b']]], 0]);
  });
});

describe('the evidence behind a claim', () => {
  interface Evidenced {
    readonly index: AddressIndex;
    readonly claim: () => ReturnType<AddressIndex['claim']>;
    evidence: ClaimEvidence;
    now: number;
    /** When a node was reported as waiting, and for how long. */
    readonly waits: { readonly at: number; readonly ms: number }[];
  }

  /** The node b shows an address, and the node a is about to. */
  function claimedWith(evidence: ClaimEvidence): Evidenced {
    const made: Evidenced = {
      evidence,
      now: 0,
      waits: [],
      index: new AddressIndex(() => undefined, {
        evidence: () => made.evidence,
        now: () => made.now,
        maxWait: 30_000,
        onWait: (_, ms) => made.waits.push({ at: made.now, ms }),
      }),
      claim: () => made.index.claim({ name: 'a', networkId: network, addresses: ['x'] }),
    };
    made.index.setOffered('b', network, ['x']);
    return made;
  }

  test('counts for nothing when the cloud shows the address elsewhere', () => {
    const { claim, index } = claimedWith('none');

    expect(claim().excluded.size).toBe(0);
    index.setOffered('a', network, ['x']);
    expect(claim().shared.size).toBe(0);
  });

  test('counts for a while when the cloud has not been read, and not again for a claim that comes back', () => {
    const made = claimedWith('unasked');
    const first = made.claim();
    made.now = 20_000;
    made.index.remove('b');
    made.index.setOffered('b', network, ['x']);

    const second = made.claim();
    made.now = 30_000;

    expect([first, second].map(({ unasked }) => [...unasked])).toEqual([['x'], ['x']]);
    expect(made.claim().excluded.size).toBe(0);
  });

  describe('that nothing confirms', () => {
    const wants = (made: Evidenced, name: string, address: string): boolean =>
      made.index.claim({ name, networkId: network, addresses: [address] }).excluded.size > 0;

    test('has one window for all that it shows, for all nodes and whatever it adds', () => {
      const made = claimedWith('unasked');
      made.index.setOffered('b', network, ['x', 'y']);
      const first = [wants(made, 'a', 'x'), wants(made, 'c', 'y')];
      made.now = 20_000;
      made.index.setOffered('b', network, ['x', 'y', 'z']);
      const second = wants(made, 'd', 'z');
      made.now = 30_000;
      made.index.setOffered('b', network, ['x', 'y', 'z', 'w']);

      expect([...first, second]).toEqual([true, true, true]);
      expect(made.waits.map(({ ms }) => ms)).toEqual([30_000, 30_000, 10_000]);
      expect([wants(made, 'a', 'x'), wants(made, 'd', 'z'), wants(made, 'e', 'w')]).toEqual([
        false,
        false,
        false,
      ]);
    });

    test('has another window once its CiliumNode was away for as long', () => {
      const made = claimedWith('unasked');
      made.claim();
      made.now = 30_000;
      made.index.remove('b');
      made.now = 60_000;
      made.index.setOffered('b', network, ['x']);

      expect(made.claim().excluded.size).toBe(1);
    });

    test('has another window once the cloud confirmed it', () => {
      const made = claimedWith('unasked');
      made.claim();
      made.now = 30_000;
      made.evidence = 'shown';
      made.claim();
      made.evidence = 'unasked';

      expect(made.claim().excluded.size).toBe(1);
    });
  });

  test('is announced when a wait starts, also one for another reason than before, and each time once', () => {
    const made = claimedWith('unasked');
    made.index.grantOffered('b');
    made.claim();
    made.claim();
    made.now = 10_000;
    made.evidence = 'leaving';

    made.claim();
    made.now = 30_000;
    made.claim();
    made.claim();

    expect(made.waits).toEqual([
      { at: 0, ms: 30_000 },
      { at: 30_000, ms: 10_000 },
    ]);
  });

  test('counts for nothing while the address leaves a node that only claims it', () => {
    expect(claimedWith('leaving').claim().excluded.size).toBe(0);
  });

  test('counts until the address is withdrawn when the cloud gave it to the other node', () => {
    const made = claimedWith('none');
    made.index.claim({ name: 'b', networkId: network, addresses: ['x'] });
    made.evidence = 'leaving';
    made.index.claim({ name: 'b', networkId: network, addresses: [] });
    const before = made.claim().excluded.size;

    made.index.setOffered('b', network, []);

    expect(before).toBe(1);
    expect(made.claim().excluded.size).toBe(0);
  });

  test('counts as long as the API server refuses the write that withdraws the address', () => {
    const made = claimedWith('none');
    made.index.claim({ name: 'b', networkId: network, addresses: ['x'] });
    made.evidence = 'stuck';
    made.index.claim({ name: 'b', networkId: network, addresses: [] });
    made.claim();
    made.now = 3_600_000;

    expect(made.claim().excluded.size).toBe(1);
  });

  test('is looked at again now and then while such a write is missing, because it may end refused', () => {
    const made = claimedWith('stuck');
    made.index.grantOffered('b');
    for (const now of [0, 10_000, 30_000, 40_000, 60_000]) {
      made.now = now;
      made.claim();
    }

    expect(made.waits.map(({ at }) => at)).toEqual([0, 30_000, 60_000]);
  });

  test('counts anew for an address that the node has shown in the meantime', () => {
    const made = claimedWith('leaving');
    made.index.grantOffered('b');
    const first = made.claim().excluded.size;
    made.index.setOffered('b', network, []);
    made.claim();
    made.index.setOffered('a', network, ['x']);
    made.claim();
    made.index.setOffered('a', network, []);
    made.index.claim({ name: 'a', networkId: network, addresses: [] });
    made.now = 40_000;
    made.index.setOffered('b', network, ['x']);
    made.index.grantOffered('b');

    expect([first, made.claim().excluded.size]).toEqual([1, 1]);
  });

  test('counts for nothing when such a write withdraws what the other node never had', () => {
    expect(claimedWith('stuck').claim().excluded.size).toBe(0);
  });

  test('counts until the address is withdrawn when a previous leader may have assigned it', () => {
    const made = claimedWith('leaving');
    made.index.grantOffered('b');
    const before = made.claim().excluded.size;

    made.index.setOffered('b', network, []);

    expect(before).toBe(1);
    expect(made.claim().excluded.size).toBe(0);
  });

  test('is reported to a node that shows what others have', () => {
    const made = claimedWith('shown');

    const others = (name: string) =>
      made.index.heldByOthers({ name, networkId: network, addresses: ['x', 'y'] });

    expect([...others('a')]).toEqual(['x']);
    expect([...others('b')]).toEqual([]);
  });
});

/** CiliumNodes and the networks that they name; the last one names none, and claims addresses in the second. */
const named = { a: network, b: network, c: 'vpc-2', d: '' } as const;
type Name = keyof typeof named;
const names = Object.keys(named) as readonly Name[];
const addresses = fc.subarray(['x', 'y', 'z']);
const step = fc.oneof(
  fc.record({ kind: fc.constant('claim' as const), name: fc.constantFrom(...names), addresses }),
  fc.record({ kind: fc.constant('show' as const), name: fc.constantFrom(...names), addresses }),
  fc.record({ kind: fc.constantFrom('grant', 'remove'), name: fc.constantFrom(...names) }),
);

/** Answers each claim by all that every node shows and claims, and takes none for a repeated one. */
class PlainIndex {
  readonly shown = new Map<string, ReadonlySet<string>>();
  readonly claimed = new Map<string, ReadonlySet<string>>();
  readonly granted = new Map<string, ReadonlySet<string>>();
  readonly #waiting: [name: string, holder: string][] = [];
  readonly #networks = new Map<Name, string>();
  freed: string[] = [];

  holders(address: string, name: Name, networkId: string): readonly string[] {
    const isNear = (other: Name): boolean => [networkId, ''].includes(this.#networkOf(other));
    return names.filter((other) => other !== name && isNear(other) && this.#held(other).has(address));
  }

  claim(name: Name, wanted: readonly string[]): unknown {
    const shown = this.shown.get(name) ?? new Set();
    const networkId = named[name] || 'vpc-2';
    const found = wanted.map((address) => [address, this.holders(address, name, networkId)] as const);
    const contested = found.filter(([, holders]) => holders.length > 0);
    const excluded = contested.filter(([address]) => !shown.has(address));
    for (const holder of contested.flatMap(([, holders]) => holders)) this.#waiting.push([name, holder]);
    const claimed = wanted.filter((address) => !excluded.some(([each]) => each === address));
    this.#change(name, () => {
      this.claimed.set(name, new Set(claimed));
      this.#networks.set(name, networkId);
    });
    return { excluded, shared: contested.filter(([address]) => shown.has(address)) };
  }

  show(name: Name, shown: readonly string[]): void {
    this.#change(name, () => this.shown.set(name, new Set(shown)));
  }

  grant(name: Name): void {
    this.granted.set(name, new Set([...(this.granted.get(name) ?? []), ...(this.shown.get(name) ?? [])]));
  }

  remove(name: Name): void {
    this.#change(name, () => {
      for (const each of [this.shown, this.claimed, this.granted, this.#networks]) each.delete(name);
    });
  }

  #networkOf(name: Name): string {
    return this.#networks.get(name) ?? named[name];
  }

  #held(name: Name): ReadonlySet<string> {
    return new Set([...(this.shown.get(name) ?? []), ...(this.claimed.get(name) ?? [])]);
  }

  #change(name: Name, change: () => void): void {
    const [before, networkId] = [this.#held(name), this.#networkOf(name)];
    change();
    const granted = [...(this.granted.get(name) ?? [])].filter((each) => this.shown.get(name)?.has(each));
    this.granted.set(name, new Set([...(this.claimed.get(name) ?? []), ...granted]));
    const after = this.#held(name);
    const isSameNetwork = this.#networkOf(name) === networkId;
    if ([...before].every((address) => isSameNetwork && after.has(address))) return;
    const freed = this.#waiting.filter(([, holder]) => holder === name);
    for (const each of freed) this.#waiting.splice(this.#waiting.indexOf(each), 1);
    this.freed.push(...new Set(freed.map(([waiting]) => waiting)));
  }
}

test('a claim is answered alike whether or not the node made it before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const { index, freed } = indexOf({});
      const plain = new PlainIndex();
      for (const each of steps) {
        const { kind, name } = each;
        if (kind === 'claim') {
          const { excluded, shared } = index.claim({ ...each, networkId: named[name] || 'vpc-2' });
          const answer = { excluded: [...excluded], shared: [...shared] };
          expect(answer).toEqual(plain.claim(name, each.addresses));
        } else if (kind === 'show') {
          index.setOffered(name, named[name], each.addresses);
          plain.show(name, each.addresses);
        } else if (kind === 'grant') {
          index.grantOffered(name);
          plain.grant(name);
        } else {
          index.remove(name);
          plain.remove(name);
        }
        const granted = names.map((of) => new Set(index.grantedOf(of, ['x', 'y', 'z'])));
        expect(granted).toEqual(names.map((of) => plain.granted.get(of) ?? new Set()));
        expect(freed.toSorted()).toEqual(plain.freed.toSorted());
      }
    }),
  );
});
