// Decides the next phase of each release: a state machine without effects. An address is unassigned only
// after its agent agrees that it is free and no longer sees it. Each step needs evidence that the previous
// step is done, so that a restarted process can continue. An address that a running pod shows counts as used.
//
// excess -> asked -> leaving -> hidden -> unassigning -> released. `nextReleases` takes the steps that follow from what
// is known, `phaseAfter` those that follow from a call. release-plan.ts says when a call is due; releaser.ts sends it
// after a live read of the CiliumNode.
//
// Agents of the protocol "crd" are asked in `status.ipam.release-ips` and answer there
// (docs/ciliumnode-contract.md 3.1). Agents of the protocol "multi-pool" are not asked: they drop unneeded
// CIDRs from `spec.ipam.pools.allocated`. Such an agent may reclaim a CIDR in memory before it writes that.
// So the CIDR stays hidden for a while before it is unassigned (docs/ciliumnode-contract.md 3.2).
import type { ReleaseState } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { AgentProtocol } from '../demand/demand.ts';
import type { Holding } from '../demand/holdings.ts';

/** Times are monotonic, in ms. */
export type ReleasePhase =
  /** Above the node's need since then; not announced yet. */
  | { readonly kind: 'excess'; readonly since: number }
  /** The agent is asked whether it is free. */
  | { readonly kind: 'asked' }
  /** The agent agreed; it is about to be hidden. */
  | { readonly kind: 'leaving' }
  /** Hidden from the agent since then. */
  | { readonly kind: 'hidden'; readonly since: number }
  /**
   * The unassign call is in flight; or its answer is lost, and it may still take effect until `openUntil`.
   * `isRepeated`: so may an earlier call have done.
   */
  | { readonly kind: 'unassigning'; readonly isRepeated: boolean; readonly openUntil?: number }
  /** The result is unknown: it stays hidden until a repeated call or a refresh shows it. */
  | { readonly kind: 'unanswered' }
  /**
   * The holding left the node at `since`: it is back in the cloud, or pods must not have it. The agent has yet to be
   * notified.
   */
  | { readonly kind: 'released'; readonly since: number };

/** The outcome of a call that unassigns holdings, or of the decision to take them off the offer without one. */
export type ReleaseOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'released' }
  /** The answer was lost. `openUntil`: when the call can no longer take effect, in monotonic ms. */
  | { readonly kind: 'unclear'; readonly openUntil: number }
  /** One of several was not on the interface any more; single calls or a refresh show which. */
  | { readonly kind: 'doubtful' }
  | { readonly kind: 'refused'; readonly concerns: Concern };

/**
 * The meaning of a refusal for later calls. Nothing: the same call may succeed, or nothing is there to be taken. One: it is
 * for good, perhaps because of one holding. All: it is for good, whatever a call names.
 */
export type Concern = 'nothing' | 'one' | 'all';

export interface Release {
  readonly holding: Holding;
  /** The protocol of the agent that agreed. An agent that changes its protocol has agreed to nothing. */
  readonly protocol: AgentProtocol;
  readonly phase: ReleasePhase;
}

/** Keyed by the id of the holding. */
export type Releases = ReadonlyMap<string, Release>;

export interface ReleaseFacts {
  /** Holdings that the node can release, without those that are leaving already. */
  readonly candidates: readonly Holding[];
  /** Ids of agreed holdings that the node needs again, or that the cloud refuses to take. */
  readonly reclaimed: ReadonlySet<string>;
  readonly agent: AgentView;
  readonly cloud: CloudHoldings;
  readonly timing: ReleaseTiming;
}

/** The word of the agent and the pods of a node, and what its CiliumNode shows them. */
export interface AgentView {
  readonly protocol: AgentProtocol;
  /** The handshake in the CiliumNode, by address. */
  readonly handshake: ReadonlyMap<string, ReleaseState>;
  readonly isUsed: (address: string) => boolean;
  /** Whether the CiliumNode shows the address to the agent, in the pool or on an interface. */
  readonly isShown: (address: string) => boolean;
  /** Whether no running pod shows any of the holding, by a look at the pods of just now. Nothing is hidden without one. */
  readonly isLookedAt: (holding: Holding) => boolean;
}

/** Holdings as the cloud shows them. */
export interface CloudHoldings {
  /** Whether the cloud shows the holding on its interface, as far as known. */
  readonly isHeld: (holding: Holding) => boolean;
  /** Whether the cloud shows the holding on any interface of the instance; it may have returned on another one. */
  readonly isBack: (holding: Holding) => boolean;
  /** Whether pods must not have the holding: it leaves the node without a call, and the cloud keeps showing it. */
  readonly isUnfit: (holding: Holding) => boolean;
  /**
   * Whether a change of its interface is under way, or of any, if its own does not have it: until that ends, nothing more is
   * hidden there, nor shown again, nor called released.
   */
  readonly isChanging: (holding: Holding) => boolean;
}

/** Times that a release waits for. */
export interface ReleaseTiming {
  readonly now: number;
  /** How long a holding must exceed the need before its release starts, in ms. */
  readonly delay: number;
  /** Until then the agent may use addresses that it has not reported, so nothing more is hidden. In monotonic ms. */
  readonly mayHideAt: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

const noAddresses: ReadonlySet<string> = new Set();

/**
 * Advances every release by one step, as far as the facts allow. A finished release is not in the result.
 * Returns `before` itself when nothing changes.
 */
export function nextReleases(before: Releases, facts: ReleaseFacts): Releases {
  const wanted = new Map(facts.candidates.map((holding) => [holding.id, holding]));
  const next = new Map<string, Release>();
  for (const [id, release] of before) {
    const phase = nextPhase(release, wanted.has(id), facts);
    if (phase !== undefined) next.set(id, { ...release, phase });
  }
  const { protocol } = facts.agent;
  const { now } = facts.timing;
  for (const [id, holding] of wanted) {
    if (!before.has(id)) next.set(id, { holding, protocol, phase: { kind: 'excess', since: now } });
  }
  return isSame(before, next) ? before : next;
}

/** The phase of a release after such an outcome of its call. */
export function phaseAfter(
  phase: ReleasePhase,
  outcome: ReleaseOutcome,
  { now, hiddenFor }: { readonly now: number; readonly hiddenFor: number },
): ReleasePhase {
  const isRepeated = phase.kind === 'unanswered' || (phase.kind === 'unassigning' && phase.isRepeated);
  switch (outcome.kind) {
    case 'sent':
      return { kind: 'unassigning', isRepeated };
    case 'released':
      return { kind: 'released', since: now };
    case 'unclear':
      return { kind: 'unassigning', isRepeated: true, openUntil: outcome.openUntil };
    case 'doubtful':
      return { kind: 'unanswered' };
    case 'refused':
      // Its quarantine is over: the call was due.
      return isRepeated ? { kind: 'unanswered' } : { kind: 'hidden', since: now - hiddenFor };
  }
}

/** Whether two results have the same ids and phases; nothing else can differ. */
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

/** Holdings that their agent refuses to release. */
export function refusedIn(releases: Releases, handshake: AgentView['handshake']): readonly Holding[] {
  return [...releases.values()].flatMap(({ holding, phase }) =>
    phase.kind === 'asked' && answersOf(holding, handshake).includes('do-not-release') ? [holding] : [],
  );
}

/** Whether something is hidden from its agent and not released yet. */
export function isHiding(releases: Releases): boolean {
  return [...releases.values()].some(({ phase }) => phase.kind === 'hidden');
}

/**
 * Addresses that are neither shown to the agent nor counted as the node's. Always the same object when empty.
 */
export function outgoingIn(releases: Releases): ReadonlySet<string> {
  const outgoing = new Set<string>();
  for (const { holding, phase } of releases.values()) {
    if (phase.kind === 'excess' || phase.kind === 'asked') continue;
    for (const address of holding.addresses) outgoing.add(address);
  }
  return outgoing.size === 0 ? noAddresses : outgoing;
}

/** The desired `status.ipam.release-ips`; entries that are not in it are deleted. */
export function handshakeFor(
  releases: Releases,
  handshake: AgentView['handshake'],
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

/** Keeps the agent's answer, and does not rewrite an entry that the agent deleted. */
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
      return isWanted ? nextOfExcessOrAsked(release, phase, facts) : undefined;
    case 'leaving':
    case 'hidden':
      return mayStillLeave(release, facts) ? nextOfLeavingOrHidden(release, phase, facts) : undefined;
    default:
      return nextAfterHidden(release, phase, facts);
  }
}

/** From here a release never reverts. */
function nextAfterHidden(
  release: Release,
  phase: Extract<ReleasePhase, { kind: 'unassigning' | 'unanswered' | 'released' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  if (phase.kind === 'released') return isReleasedOver(release, phase.since, facts) ? undefined : phase;
  if (phase.kind === 'unassigning' && facts.timing.now < (phase.openUntil ?? Infinity)) return phase;
  // The end of a change decides what the interface has.
  const isOpen = facts.cloud.isChanging(release.holding);
  return isOpen || facts.cloud.isHeld(release.holding)
    ? { kind: 'unanswered' }
    : releasedOrOver(release, facts);
}

/** Ends at once when no agent has to be notified, because nothing would wake the node for it. */
function releasedOrOver(release: Release, facts: ReleaseFacts): ReleasePhase | undefined {
  const { now } = facts.timing;
  return isReleasedOver(release, now, facts) ? undefined : { kind: 'released', since: now };
}

function nextOfExcessOrAsked(
  { holding, protocol }: Release,
  phase: Extract<ReleasePhase, { kind: 'excess' | 'asked' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  const { agent, timing } = facts;
  if (protocol !== agent.protocol) return undefined;
  if (facts.cloud.isChanging(holding)) return phase;
  if (phase.kind === 'asked') return nextOfAsked(holding, agent);
  if (timing.now < Math.max(phase.since + timing.delay, timing.mayHideAt)) return phase;
  if (agent.protocol === 'crd') return { kind: 'asked' };
  return agent.isLookedAt(holding) ? { kind: 'leaving' } : phase;
}

/** All addresses of a holding must be free; one that is not decides for the holding. */
function nextOfAsked(holding: Holding, { handshake, isLookedAt }: AgentView): ReleasePhase | undefined {
  const answers = answersOf(holding, handshake);
  if (answers.includes('do-not-release')) return undefined;
  const isAgreed = answers.every((answer) => answer === 'ready-for-release');
  return { kind: isAgreed && isLookedAt(holding) ? 'leaving' : 'asked' };
}

/** Whether the agent still agrees and the node does not need the holding. */
function mayStillLeave({ holding, protocol }: Release, { agent, cloud, reclaimed }: ReleaseFacts): boolean {
  const isReclaimed = reclaimed.has(holding.id) && !cloud.isChanging(holding);
  if (protocol !== agent.protocol || isReclaimed) return false;
  if (holding.addresses.some(agent.isUsed)) return false;
  return (
    protocol === 'multi-pool' ||
    answersOf(holding, agent.handshake).every((answer) => answer === 'ready-for-release')
  );
}

function nextOfLeavingOrHidden(
  release: Release,
  phase: Extract<ReleasePhase, { kind: 'leaving' | 'hidden' }>,
  facts: ReleaseFacts,
): ReleasePhase | undefined {
  const { holding } = release;
  const { agent, cloud, timing } = facts;
  if (!cloud.isHeld(holding)) return cloud.isChanging(holding) ? phase : releasedOrOver(release, facts);
  if (holding.addresses.some(agent.isShown)) return { kind: 'leaving' };
  return phase.kind === 'hidden' ? phase : { kind: 'hidden', since: timing.now };
}

/**
 * The agent deletes the entry of a released address. The release also ends when the cloud shows the address
 * again, by a reading that is not stale.
 */
function isReleasedOver({ holding, protocol }: Release, since: number, facts: ReleaseFacts): boolean {
  const { agent, cloud, timing } = facts;
  if (protocol !== 'crd' || agent.protocol !== 'crd') return true;
  const mayBeBack = timing.now >= since + timing.consistencyWindow && !cloud.isUnfit(holding);
  if (mayBeBack && cloud.isBack(holding)) return true;
  return holding.addresses.every((address) => !agent.handshake.has(address));
}

function answersOf(
  { addresses }: Holding,
  handshake: AgentView['handshake'],
): readonly (ReleaseState | undefined)[] {
  return addresses.map((address) => handshake.get(address));
}
