// How an address leaves a node, as a state machine without effects. An address may be unassigned only after its agent
// has agreed that it is free, and after it is no longer shown to the agent: each step is taken when the one before is
// seen to be done, by whoever sees it, also after a restart.
//
// Agents of the protocol "crd" are asked (`status.ipam.release-ips`) and answer (contract 3.1). Agents of the protocol
// "multi-pool" are not asked: they drop what they don't need from `spec.ipam.pools.allocated`, and may take it back in
// memory before they say so, which is why it stays hidden from them for a while before it is unassigned (contract 3.2).
import type { ReleaseState } from '../kubernetes/cilium-node.ts';
import type { AgentProtocol } from './demand.ts';

/** What is released as a whole: an address, or a prefix with all of its addresses. */
export interface Holding {
  /** The address, or the prefix as `a.b.c.d/28`. */
  readonly id: string;
  readonly interfaceId: string;
  readonly addresses: readonly string[];
}

/** Times are monotonic, in ms. */
export type ReleasePhase =
  /** More than the node needs since then; nobody knows of it yet. */
  | { readonly kind: 'excess'; readonly since: number }
  /** The agent is asked whether it is free. */
  | { readonly kind: 'asked' }
  /** Agreed: to be hidden from the agent. */
  | { readonly kind: 'leaving' }
  /** Hidden since then. */
  | { readonly kind: 'hidden'; readonly since: number }
  /** The call that unassigns it is under way, or its answer got lost and it may yet happen. */
  | { readonly kind: 'unassigning' }
  /** It may have been unassigned, or not: it is hidden until repeating the call, or the cloud, tells. */
  | { readonly kind: 'unanswered' }
  /** The cloud has it back since then; the agent is to be told. */
  | { readonly kind: 'released'; readonly since: number };

export interface Release {
  readonly holding: Holding;
  /** Of the agent that agreed: one that changes to the other protocol has agreed to nothing. */
  readonly protocol: AgentProtocol;
  readonly phase: ReleasePhase;
}

/** By the id of the holding. */
export type Releases = ReadonlyMap<string, Release>;

export interface ReleaseFacts {
  readonly protocol: AgentProtocol;
  /** What the node can do without, of what is not leaving already. */
  readonly candidates: readonly Holding[];
  /** Ids of what was agreed upon and is needed after all. */
  readonly reclaimed: ReadonlySet<string>;
  /** The handshake as the CiliumNode has it, by address. */
  readonly handshake: ReadonlyMap<string, ReleaseState>;
  /** Whether the agent says that it uses the address. */
  readonly isUsed: (address: string) => boolean;
  /** Whether the CiliumNode shows the address to the agent, in the pool or on an interface. */
  readonly isShown: (address: string) => boolean;
  /** Whether the cloud has the holding on its interface, as far as is known. */
  readonly isHeld: (holding: Holding) => boolean;
  /** The same, on whichever interface of the instance: it may have come back with another one. */
  readonly isBack: (holding: Holding) => boolean;
  readonly now: number;
  /** How long something must be more than needed before it is released, in ms. */
  readonly delay: number;
  /** Until then the agent may not have been able to say what it uses, and nothing more is hidden from it. */
  readonly unsaidUntil: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

const noAddresses: ReadonlySet<string> = new Set();

/**
 * Every release one step on, as far as the facts allow. What is no longer a release is not in the result, which is `before`
 * itself where nothing changes.
 */
export function nextReleases(before: Releases, facts: ReleaseFacts): Releases {
  const wanted = new Map(facts.candidates.map((holding) => [holding.id, holding]));
  const next = new Map<string, Release>();
  for (const [id, release] of before) {
    const phase = nextPhase(release, wanted.has(id), facts);
    if (phase !== undefined) next.set(id, { ...release, phase });
  }
  const { protocol, now } = facts;
  for (const [id, holding] of wanted) {
    if (!before.has(id)) next.set(id, { holding, protocol, phase: { kind: 'excess', since: now } });
  }
  return isSame(before, next) ? before : next;
}

/** Of two that differ in nothing but phases and what is in only one of them. */
function isSame(before: Releases, next: Releases): boolean {
  if (before.size !== next.size) return false;
  for (const [id, { phase }] of next) {
    const known = before.get(id)?.phase;
    if (known?.kind !== phase.kind || sinceOf(known) !== sinceOf(phase)) return false;
  }
  return true;
}

function sinceOf(phase: ReleasePhase): number | undefined {
  return 'since' in phase ? phase.since : undefined;
}

/** Holdings that their agent refuses to give. */
export function refusedIn(releases: Releases, handshake: ReleaseFacts['handshake']): readonly Holding[] {
  return [...releases.values()].flatMap(({ holding, phase }) =>
    phase.kind === 'asked' && answersOf(holding, handshake).includes('do-not-release') ? [holding] : [],
  );
}

/** Whether something is hidden from its agent, and not taken away yet. */
export function isHiding(releases: Releases): boolean {
  return [...releases.values()].some(({ phase }) => phase.kind === 'hidden');
}

/** Addresses that are neither shown to the agent nor counted as the node's. The same object whenever there are none. */
export function outgoingIn(releases: Releases): ReadonlySet<string> {
  const outgoing = new Set<string>();
  for (const { holding, phase } of releases.values()) {
    if (phase.kind === 'excess' || phase.kind === 'asked') continue;
    for (const address of holding.addresses) outgoing.add(address);
  }
  return outgoing.size === 0 ? noAddresses : outgoing;
}

/** What `status.ipam.release-ips` should hold; entries that are not in it are to be deleted. */
export function handshakeFor(
  releases: Releases,
  handshake: ReleaseFacts['handshake'],
): ReadonlyMap<string, ReleaseState> {
  const states = new Map<string, ReleaseState>();
  for (const { holding, protocol, phase } of releases.values()) {
    if (protocol !== 'crd') continue;
    for (const address of holding.addresses) {
      const state = stateFor(phase, handshake.get(address));
      if (state !== undefined) states.set(address, state);
    }
  }
  return states;
}

/** An answer of the agent stays; what the agent has forgotten is not written again. */
function stateFor({ kind }: ReleasePhase, known: ReleaseState | undefined): ReleaseState | undefined {
  if (kind === 'excess') return undefined;
  if (kind === 'released') return known && 'released';
  if (kind !== 'asked') return known;
  return known === 'ready-for-release' || known === 'do-not-release' ? known : 'marked-for-release';
}

function nextPhase(release: Release, isWanted: boolean, facts: ReleaseFacts): ReleasePhase | undefined {
  const { phase } = release;
  switch (phase.kind) {
    case 'excess':
    case 'asked':
      return isWanted ? proposed(release, phase, facts) : undefined;
    case 'leaving':
    case 'hidden':
      return goesOn(release, facts) ? onItsWay(release, phase, facts) : undefined;
    default:
      return afterTheCall(release, phase, facts);
  }
}

/** There is no way back. */
function afterTheCall(
  release: Release,
  phase: Extract<ReleasePhase, { kind: 'unassigning' | 'unanswered' | 'released' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  if (phase.kind === 'released') return isOver(release, phase.since, facts) ? undefined : phase;
  const isKnownGone = phase.kind === 'unanswered' && !facts.isHeld(release.holding);
  return isKnownGone ? gone(release, facts) : phase;
}

/** Over at once where no agent is to be told: nothing would come to look at it again. */
function gone(release: Release, facts: ReleaseFacts): ReleasePhase | undefined {
  return isOver(release, facts.now, facts) ? undefined : { kind: 'released', since: facts.now };
}

function proposed(
  { holding, protocol }: Release,
  phase: Extract<ReleasePhase, { kind: 'excess' | 'asked' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  if (protocol !== facts.protocol) return undefined;
  if (phase.kind === 'asked') return answered(holding, facts);
  if (facts.now < Math.max(phase.since + facts.delay, facts.unsaidUntil)) return phase;
  return { kind: facts.protocol === 'crd' ? 'asked' : 'leaving' };
}

/** All addresses of a holding must be free, and one that is not decides for all. */
function answered(holding: Holding, { handshake }: ReleaseFacts): ReleasePhase | undefined {
  const answers = answersOf(holding, handshake);
  if (answers.includes('do-not-release')) return undefined;
  return { kind: answers.every((answer) => answer === 'ready-for-release') ? 'leaving' : 'asked' };
}

/** Whether the agent still agrees, and nobody needs it. */
function goesOn({ holding, protocol }: Release, facts: ReleaseFacts): boolean {
  if (protocol !== facts.protocol || facts.reclaimed.has(holding.id)) return false;
  if (holding.addresses.some(facts.isUsed)) return false;
  return (
    protocol === 'multi-pool' ||
    answersOf(holding, facts.handshake).every((answer) => answer === 'ready-for-release')
  );
}

function onItsWay(
  release: Release,
  phase: Extract<ReleasePhase, { kind: 'leaving' | 'hidden' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  const { holding } = release;
  if (!facts.isHeld(holding)) return gone(release, facts);
  if (holding.addresses.some(facts.isShown)) return { kind: 'leaving' };
  return phase.kind === 'hidden' ? phase : { kind: 'hidden', since: facts.now };
}

/** The agent deletes the entry of a released address. One that is back on the instance, and not by an old reading, is none. */
function isOver({ holding, protocol }: Release, since: number, facts: ReleaseFacts): boolean {
  if (protocol !== 'crd' || facts.protocol !== 'crd') return true;
  if (facts.now >= since + facts.consistencyWindow && facts.isBack(holding)) return true;
  return holding.addresses.every((address) => !facts.handshake.has(address));
}

function answersOf(
  { addresses }: Holding,
  handshake: ReleaseFacts['handshake'],
): readonly (ReleaseState | undefined)[] {
  return addresses.map((address) => handshake.get(address));
}
