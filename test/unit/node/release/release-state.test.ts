import { describe, expect, test } from '@jest/globals';
import type { ReleaseState } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import {
  handshakeFor,
  nextReleases,
  outgoingIn,
  phaseAfter,
  refusedIn,
  type Release,
  type AgentView,
  type CloudHoldings,
  type ReleaseFacts,
  type ReleaseTiming,
  type ReleaseOutcome,
  type ReleasePhase,
} from '../../../../src/node/release/release-state.ts';
import type { Holding } from '../../../../src/node/demand/holdings.ts';

const address: Holding = { id: '10.0.0.1', interfaceId: 'eni-1', addresses: ['10.0.0.1'] };
const block: Holding = {
  id: '10.0.1.0/28',
  interfaceId: 'eni-1',
  addresses: Array.from({ length: 16 }, (_, index) => `10.0.1.${index}`),
};

/** Facts side by side, for the rows of tables. */
type FactsInARow = Pick<ReleaseFacts, 'candidates' | 'reclaimed'> & AgentView & CloudHoldings & ReleaseTiming;

const typical: FactsInARow = {
  candidates: [],
  reclaimed: new Set(),
  protocol: 'crd',
  handshake: new Map(),
  isUsed: () => false,
  isLookedAt: () => true,
  isShown: () => true,
  isHeld: () => true,
  isUnfit: () => false,
  isBack: () => true,
  isChanging: () => false,
  now: 1_000_000,
  delay: 180_000,
  mayHideAt: -Infinity,
  consistencyWindow: 30_000,
};

function facts(change: Partial<FactsInARow> = {}): ReleaseFacts {
  const row = { ...typical, isBack: change.isHeld ?? typical.isBack, ...change };
  const { candidates, reclaimed } = row;
  const { protocol, handshake, isUsed, isLookedAt, isShown } = row;
  const { isHeld, isUnfit, isBack, isChanging } = row;
  const { now, delay, mayHideAt, consistencyWindow } = row;
  return {
    candidates,
    reclaimed,
    agent: { protocol, handshake, isUsed, isLookedAt, isShown },
    cloud: { isHeld, isUnfit, isBack, isChanging },
    timing: { now, delay, mayHideAt, consistencyWindow },
  };
}

function answers(state: ReleaseState, holding: Holding = address): ReadonlyMap<string, ReleaseState> {
  return new Map(holding.addresses.map((each) => [each, state]));
}

/** The next phase of a release. */
function after(
  phase: ReleasePhase,
  given: Partial<FactsInARow>,
  { holding = address, protocol = 'crd' }: Partial<Release> = {},
): ReleasePhase | undefined {
  const before = new Map([[holding.id, { holding, protocol, phase }]]);
  return nextReleases(before, facts({ protocol, ...given })).get(holding.id)?.phase;
}

const young: ReleasePhase = { kind: 'excess', since: 900_000 };
const old: ReleasePhase = { kind: 'excess', since: 820_000 };
const asked: ReleasePhase = { kind: 'asked' };
const leaving: ReleasePhase = { kind: 'leaving' };
const hidden: ReleasePhase = { kind: 'hidden', since: 990_000 };
const unassigning: ReleasePhase = { kind: 'unassigning', isRepeated: false };
const unanswered: ReleasePhase = { kind: 'unanswered' };
const released: ReleasePhase = { kind: 'released', since: 960_000 };
const wanted = { candidates: [address] };
const ready = { handshake: answers('ready-for-release') };
const hiddenByChange = { isHeld: () => false, isChanging: () => true };
const none = undefined;

const repeated: ReleasePhase = { kind: 'unassigning', isRepeated: true };
const open: ReleasePhase = { kind: 'unassigning', isRepeated: true, openUntil: 1_000_001 };
const over: ReleasePhase = { kind: 'unassigning', isRepeated: true, openUntil: 1_000_000 };

describe('the call that unassigns a holding', () => {
  const sent: ReleaseOutcome = { kind: 'sent' };
  const unclear: ReleaseOutcome = { kind: 'unclear', openUntil: 1_000_001 };
  const denied: ReleaseOutcome = { kind: 'refused', concerns: 'all' };
  const throttled: ReleaseOutcome = { kind: 'refused', concerns: 'nothing' };
  const done: ReleaseOutcome = { kind: 'released' };
  const gone: ReleasePhase = { kind: 'released', since: 1_000_000 };

  test.each<[string, ReleasePhase, ReleaseOutcome, ReleasePhase | undefined]>([
    ['is sent', hidden, sent, unassigning],
    ['is sent again after a lost answer', unanswered, sent, repeated],
    ['succeeds', unassigning, done, gone],
    ['succeeds when it is repeated', repeated, done, gone],
    ['was not needed', hidden, done, gone],
    ['has a lost answer', unassigning, unclear, open],
    ['has a lost answer again', repeated, unclear, open],
    ['may pass another time', unassigning, throttled, { kind: 'hidden', since: 925_000 }],
    ['may pass another time, and may have taken effect', repeated, throttled, unanswered],
    ['names several, and one was not there any more', unassigning, { kind: 'doubtful' }, unanswered],
    ['is denied', unassigning, denied, { kind: 'hidden', since: 925_000 }],
    ['is denied, and an earlier one may have taken effect', repeated, denied, unanswered],
  ])('%s', (_, phase, outcome, expected) => {
    expect(phaseAfter(phase, outcome, { now: 1_000_000, hiddenFor: 75_000 })).toEqual(expected);
  });

  test.each<[string, ReleasePhase, Partial<FactsInARow>, ReleasePhase | undefined]>([
    ['may still take effect', open, { isHeld: () => false }, open],
    ['can no longer take effect, and the cloud shows the holding', over, {}, unanswered],
    ['took effect', over, { isHeld: () => false }, none],
    ['took effect, and the agent has yet to see that', over, { ...ready, isHeld: () => false }, gone],
  ])('%s, after a lost answer', (_, phase, given, expected) => {
    expect(after(phase, given)).toEqual(expected);
  });
});

describe('an agent that is asked', () => {
  test.each<[string, ReleasePhase, Partial<FactsInARow>, ReleasePhase | undefined]>([
    ['is not asked before the delay is over', young, wanted, young],
    ['is asked once it is over', old, wanted, asked],
    ['is not asked for what is no longer more than needed', old, {}, none],
    ['has not answered', asked, { ...wanted, handshake: answers('marked-for-release') }, asked],
    ['has not been asked yet', asked, wanted, asked],
    ['is no longer asked for what is needed', asked, ready, none],
    ['refuses', asked, { ...wanted, handshake: answers('do-not-release') }, none],
    ['agrees', asked, { ...wanted, ...ready }, leaving],
    ['still sees an address that is leaving', leaving, ready, leaving],
    ['no longer sees it', leaving, { ...ready, isShown: () => false }, { kind: 'hidden', since: 1_000_000 }],
    ['has not seen it for a while', hidden, { ...ready, isShown: () => false }, hidden],
    ['sees it again', hidden, ready, leaving],
    ['uses an address that is leaving', leaving, { ...ready, isUsed: () => true }, none],
    ['uses an address that is hidden', hidden, { ...ready, isUsed: () => true, isShown: () => false }, none],
    ['revokes its answer', hidden, { handshake: answers('do-not-release'), isShown: () => false }, none],
    ['has lost its word', hidden, { isShown: () => false }, none],
    ['needs an address that is hidden', hidden, { ...ready, reclaimed: new Set([address.id]) }, none],
    ['needs an address that is leaving', leaving, { ...ready, reclaimed: new Set([address.id]) }, none],
    ['has another protocol by now, before it was asked', old, { ...wanted, protocol: 'multi-pool' }, none],
    [
      'has another protocol by now, after it was asked',
      asked,
      { ...wanted, ...ready, protocol: 'multi-pool' },
      none,
    ],
    ['is another by now, agreed', hidden, { isShown: () => false, protocol: 'multi-pool' }, none],
    ['is another by now, unassigning', unassigning, { protocol: 'multi-pool' }, unassigning],
    ['finds the call in flight', unassigning, { ...ready, isUsed: () => true }, unassigning],
    ['still has to learn of the release', released, { ...ready, isHeld: () => false }, released],
    ['knows of the release', released, { handshake: answers('released'), isHeld: () => false }, released],
    ['has forgotten', released, { isHeld: () => false }, none],
    ['is assigned the address again', released, { handshake: answers('released') }, none],
    [
      'only seems to be assigned the address again',
      { kind: 'released', since: 980_000 },
      { handshake: answers('released') },
      { kind: 'released', since: 980_000 },
    ],
    [
      'finds gone what was leaving',
      leaving,
      { ...ready, isHeld: () => false },
      { kind: 'released', since: 1_000_000 },
    ],
    ['does not learn yet what a change under way hides', leaving, { ...ready, ...hiddenByChange }, leaving],
    [
      'does not learn of it either once it no longer sees it',
      hidden,
      { ...ready, ...hiddenByChange, isShown: () => false },
      hidden,
    ],
    [
      'has to learn what a lost answer has taken',
      unanswered,
      { ...ready, isHeld: () => false },
      { kind: 'released', since: 1_000_000 },
    ],
    ['does not learn what a change under way takes', unanswered, { ...ready, ...hiddenByChange }, unanswered],
    [
      'does not learn it either once the call itself can take nothing more',
      over,
      { ...ready, ...hiddenByChange },
      unanswered,
    ],
    ['has forgotten what a lost answer has taken', unanswered, { isHeld: () => false }, none],
  ])('%s', (_, before, given, expected) => {
    expect(after(before, given)).toEqual(expected);
  });

  test.each<[string, ReadonlyMap<string, ReleaseState>, ReleasePhase | undefined]>([
    ['all sixteen are free', answers('ready-for-release', block), leaving],
    [
      'fifteen are free',
      new Map([...answers('ready-for-release', block), ['10.0.1.7', 'marked-for-release']]),
      asked,
    ],
    [
      'one is in use',
      new Map([...answers('ready-for-release', block), ['10.0.1.7', 'do-not-release']]),
      none,
    ],
    ['fifteen have answered', new Map([...answers('ready-for-release', block)].slice(1)), asked],
  ])('releases a prefix only as a whole: %s', (_, handshake, expected) => {
    expect(after(asked, { candidates: [block], handshake }, { holding: block })).toEqual(expected);
  });
});

describe('an agent that is not asked', () => {
  const agent = { protocol: 'multi-pool' } as const;

  test.each<[string, ReleasePhase, Partial<FactsInARow>, ReleasePhase | undefined]>([
    ['dropped it not long ago', young, wanted, young],
    ['dropped it long ago', old, wanted, leaving],
    [
      'has not had the time to report that it holds the address again',
      old,
      { ...wanted, mayHideAt: 1_000_001 },
      old,
    ],
    ['has had the time to report so', old, { ...wanted, mayHideAt: 1_000_000 }, leaving],
    ['took it back', old, {}, none],
    ['no longer sees it', leaving, { isShown: () => false }, { kind: 'hidden', since: 1_000_000 }],
    ['holds it again', hidden, { isUsed: () => true, isShown: () => false }, none],
    ['is another by now', hidden, { protocol: 'crd', isShown: () => false }, none],
    ['finds it gone', hidden, { isHeld: () => false }, none],
    ['finds gone what a lost answer may have taken', unanswered, { isHeld: () => false }, none],
    ['finds it on another interface', unanswered, { isHeld: () => false, isBack: () => true }, none],
    ['finds there what a lost answer may have taken', unanswered, {}, unanswered],
    ['need not learn of the release', released, {}, none],
  ])('%s', (_, before, given, expected) => {
    expect(after(before, given, agent)).toEqual(expected);
  });
});

test('the release state records what is more than needed, with the time', () => {
  const next = nextReleases(new Map(), facts({ candidates: [address, block] }));

  expect([...next.values()].map(({ phase }) => phase)).toEqual(
    Array.from({ length: 2 }, () => ({ kind: 'excess', since: 1_000_000 })),
  );
});

test.each<[ReleasePhase, ReleaseState | undefined, ReleaseState | undefined]>([
  [young, undefined, undefined],
  [asked, undefined, 'marked-for-release'],
  [asked, 'released', 'marked-for-release'],
  [asked, 'marked-for-release', 'marked-for-release'],
  [asked, 'ready-for-release', 'ready-for-release'],
  [asked, 'do-not-release', 'do-not-release'],
  [leaving, 'ready-for-release', 'ready-for-release'],
  [hidden, 'ready-for-release', 'ready-for-release'],
  [unassigning, 'ready-for-release', 'ready-for-release'],
  [unassigning, undefined, undefined],
  [released, 'ready-for-release', 'released'],
  [released, 'released', 'released'],
  [released, undefined, undefined],
])('a release in state %j changes the entry %s to %s', (phase, known, expected) => {
  const releases = new Map([[address.id, { holding: address, protocol: 'crd' as const, phase }]]);
  const handshake = new Map(known === undefined ? [] : [[address.id, known]]);

  expect(handshakeFor(releases, handshake).get(address.id)).toBe(expected);
});

test('entries of agents that are not asked are deleted', () => {
  const releases = new Map([
    [address.id, { holding: address, protocol: 'multi-pool' as const, phase: hidden }],
  ]);

  expect(handshakeFor(releases, answers('ready-for-release'))).toEqual(new Map());
});

test.each<[ReleasePhase, boolean]>([
  [young, false],
  [asked, false],
  [leaving, true],
  [hidden, true],
  [unassigning, true],
  [released, true],
])('a release in state %j hides its address: %s', (phase, expected) => {
  const releases = new Map([[address.id, { holding: address, protocol: 'crd' as const, phase }]]);

  expect(outgoingIn(releases).has(address.id)).toBe(expected);
});

test('an agent that refuses is reported', () => {
  const releases = new Map([
    [block.id, { holding: block, protocol: 'crd' as const, phase: asked }],
    [address.id, { holding: address, protocol: 'crd' as const, phase: leaving }],
  ]);

  expect(refusedIn(releases, new Map([['10.0.1.3', 'do-not-release']]))).toEqual([block]);
  expect(refusedIn(releases, answers('do-not-release'))).toEqual([]);
});
