// Releases the addresses above a node's watermarks, and those that pods must not have. Proposes what may go,
// and starts the last step once something has been hidden for long enough (`#isDue`). Excess addresses are then
// unassigned; what pods must not have is only taken off the offer. Nothing goes before its agent gives it up.
import { leaderQuietPeriod } from '../../kubernetes/lease/lease-timings.ts';
import type { CiliumNode, ReleaseState } from '../../kubernetes/cilium-node/cilium-node.ts';
import { shownTo } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { CloudTraits } from '../../providers/contract/cloud-traits.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import {
  handshakeFor,
  isHiding,
  nextReleases,
  outgoingIn,
  refusedIn,
  type Release,
  type ReleasePhase,
  type Releases,
} from './release-state.ts';
import { type AgentProtocol, isForeignAgent, protocolOf } from '../demand/demand.ts';
import { type Holding, isUnfit, holdingsIn, placeOf } from '../demand/holdings.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import { ReleaseBackoff } from './release-backoff.ts';
import {
  recoverReleases,
  releaseCandidates,
  retiredCandidates,
  reportsUse,
  usageIn,
} from './prepare-ip-release.ts';
import { Retirements } from './retire.ts';
import type { ReleasePermission } from './release-permission.ts';
import { Unassignments, type UnassignmentsDeps } from './unassign.ts';

export interface ReleaserDeps
  extends Omit<UnassignmentsDeps, 'evaluate' | 'due' | 'subnetOf' | 'enter' | 'onAccepted' | 'onRefused'> {
  readonly policy: ReleasePolicy;
  readonly traits: Pick<CloudTraits, 'poolRequests'>;
  readonly permission: ReleasePermission;
  /** When this process last wrote the CiliumNode, in monotonic ms; -Infinity when it has not. */
  readonly writtenAt: () => number;
  /** The facts known now; undefined while the node is not served. */
  readonly facts: () => ReleasableFacts | undefined;
  /** These holdings left the node without a call. */
  readonly onRetired: (holdings: readonly Holding[]) => void;
}

export interface ReleasePolicy {
  /** Whether excess addresses are released. What pods must not have leaves regardless. */
  readonly enabled: boolean;
  /** How long a holding must be in excess before its release starts, in ms. */
  readonly delay: number;
  /** How long a holding stays hidden from multi-pool agents before it is unassigned, in ms. */
  readonly hiddenFor: number;
  /** How long an interface must be without pod addresses before it is deleted, in ms; undefined keeps it. */
  readonly idleDelay: number | undefined;
}

export interface ReleasableFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  /** Addresses above the watermarks, and addresses to gain; outgoing addresses count as gone. */
  readonly excess: number;
  readonly wanted: number;
  /** Holdings that stay offered, although pods must not have them, until the agent gives them up. */
  readonly retired: readonly Holding[];
}

const nothing: Releases = new Map();
/** Shared by all nodes without a release. */
const nothingLeaves = { of: nothing, addresses: outgoingIn(nothing) };

export class Releaser {
  readonly #deps: ReleaserDeps;
  /** Undefined until the instance is read for the first time. */
  #releases: Releases | undefined;
  #outgoing = nothingLeaves;
  readonly #backoff: ReleaseBackoff;
  readonly #unassignments: Unassignments;
  readonly #retirements: Retirements;
  readonly #quietUntil: number;
  /** No release advances after this. */
  #isStopped = false;
  #cancelNext: (() => void) | undefined;

  constructor(deps: ReleaserDeps) {
    this.#deps = deps;
    this.#quietUntil = deps.clock.monotonic() + leaderQuietPeriod;
    this.#backoff = new ReleaseBackoff(deps);
    this.#unassignments = new Unassignments({
      ...deps,
      evaluate: () => this.evaluate(),
      due: (interfaceId) => this.#dueOn(interfaceId),
      subnetOf: (interfaceId) => this.#subnetOf(interfaceId),
      enter: (holdings, phaseAt) => this.#enter(holdings, phaseAt),
      onAccepted: () => this.#backoff.cloudAccepted(),
      onRefused: () => this.#backoff.cloudRefused(),
    });
    this.#retirements = new Retirements({
      ...deps,
      evaluate: () => this.evaluate(),
      due: () => this.#dueWithoutCall(),
      enter: (holdings, phaseAt) => this.#enter(holdings, phaseAt),
    });
  }

  /** Outgoing addresses: not shown to the agent, and not counted as the node's. */
  get outgoing(): ReadonlySet<string> {
    const releases = this.#releases ?? nothing;
    if (this.#outgoing.of !== releases) this.#outgoing = { of: releases, addresses: outgoingIn(releases) };
    return this.#outgoing.addresses;
  }

  /** The desired `status.ipam.release-ips`; undefined while unknown. */
  handshake(known: ReadonlyMap<string, ReleaseState>): ReadonlyMap<string, ReleaseState> | undefined {
    return this.#releases && handshakeFor(this.#releases, known);
  }

  /** Whether addresses must not be added to the interface, because a call may still take some away; without one, to any. */
  isShrinking(interfaceId?: string): boolean {
    return this.#unassignments.mayTouch(interfaceId);
  }

  /** Interfaces that are losing something. */
  get interfaces(): ReadonlySet<string> {
    const leaving = [...(this.#releases ?? nothing).values()].filter(({ phase }) => phase.kind !== 'excess');
    return new Set(leaving.map(({ holding }) => holding.interfaceId));
  }

  /** Advances every release as far as possible now; false while too little is known. */
  evaluate(): boolean {
    const facts = this.#isStopped ? undefined : this.#deps.facts();
    if (facts === undefined) return false;
    const now = this.#deps.clock.monotonic();
    const before = (this.#releases ??= recoverReleases(facts, now));
    this.#backoff.agentKeeps(refusedIn(before, facts.node.status.releaseIps));
    const next = this.#step(before, facts, now);
    for (const id of before.keys()) if (isOver(next.get(id))) this.#unassignments.forget(id);
    this.#releases = next.size === 0 ? nothing : next;
    this.#beginWhatIsDue(this.#releases, facts, now);
    this.#awaitNext(this.#releases, now);
    return true;
  }

  /** Starts no more calls; resolves once the calls in flight have ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext?.();
    await Promise.all([this.#unassignments.stop(deadline), this.#retirements.stop(deadline)]);
  }

  #step(before: Releases, facts: ReleasableFacts, now: number): Releases {
    const { timing } = this.#deps;
    const { node, view, requirements } = facts;
    const proposed = this.#proposed(before, facts);
    if (before.size === 0 && proposed.length === 0) return before;
    const held = holdingsIn(view, requirements);
    const ids = new Set(held.map(({ id }) => id));
    const places = new Set(held.map(placeOf));
    const next = (releases: Releases): Releases =>
      nextReleases(releases, {
        protocol: protocolOf(node),
        candidates: releases === before ? proposed : this.#proposed(releases, facts),
        reclaimed: this.#reclaimed(releases, facts),
        handshake: node.status.releaseIps,
        isUsed: usageIn(node, view),
        isShown: shownTo(node),
        isUnfit: isUnfit(view, requirements),
        isHeld: (holding) => places.has(placeOf(holding)),
        isBack: ({ id }) => ids.has(id),
        now,
        delay: this.#delayFor(protocolOf(node)),
        mayHideAt: this.#mayHideAt(protocolOf(node), releases),
        consistencyWindow: timing.consistencyWindow,
      });
    const after = next(before);
    // A batch that waited for hidden holdings to go can advance in the same pass.
    return isHiding(before) && !isHiding(after) ? next(after) : after;
  }

  /** What the node can release, and what it must release. */
  #proposed(releases: Releases, facts: ReleasableFacts): readonly Holding[] {
    const { node, retired, excess, wanted } = facts;
    const isExcessive =
      this.#deps.policy.enabled && wanted === 0 && excess > 0 && !this.#backoff.isPausedByCloud;
    if (!isExcessive && retired.length === 0) return [];
    if (isForeignAgent(node, this.#deps.traits) || !reportsUse(node) || !this.#mayDecide()) return [];
    const isUsed = usageIn(node, facts.view);
    const isShown = shownTo(node);
    // A multi-pool agent has not dropped an address that it cannot see.
    const isTaken = (address: string): boolean =>
      isUsed(address) || (protocolOf(node) === 'multi-pool' && !isShown(address));
    const asked = { ...facts, isUsed: isTaken, releases, blocked: this.#backoff.blocked };
    return [...retiredCandidates(asked), ...(isExcessive ? releaseCandidates(asked) : [])];
  }

  /** What the node needs again: an address that is still assigned is the cheapest. */
  #reclaimed(releases: Releases, { view, requirements, wanted }: ReleasableFacts): ReadonlySet<string> {
    const reclaimed = new Set<string>();
    const mustGo = isUnfit(view, requirements);
    let left = this.#deps.policy.enabled ? wanted : Infinity;
    for (const [id, { holding, phase }] of releases) {
      if (left <= 0) break;
      if ((phase.kind !== 'leaving' && phase.kind !== 'hidden') || mustGo(holding)) continue;
      reclaimed.add(id);
      left -= holding.addresses.length;
    }
    return reclaimed;
  }

  /** A dry run decides too, but starts nothing. */
  #mayDecide(): boolean {
    const stopped = this.#deps.permission.refusal('release');
    return stopped === undefined || stopped === 'dryRun';
  }

  #beginWhatIsDue(releases: Releases, { view, requirements }: ReleasableFacts, now: number): void {
    const { permission } = this.#deps;
    // No call could be sent before that. Each attempt would cost a refresh and a token.
    if (permission.refusal('release') !== undefined || now < this.#quietUntil) return;
    if (releases.size === 0) return;
    const mustGo = isUnfit(view, requirements);
    for (const release of releases.values()) {
      if (!this.#isDue(release, now)) continue;
      if (needsNoCall(release, mustGo)) this.#beginRetirement(now);
      else this.#beginUnassignment(release.holding.interfaceId, now);
    }
  }

  #beginRetirement(now: number): void {
    if (now >= this.#retirements.pausedUntil) this.#retirements.begin();
  }

  #beginUnassignment(interfaceId: string, now: number): void {
    // The end of a growth operation wakes the node.
    const isBusy = this.#deps.isGrowing(interfaceId) || this.#mayBeGone(interfaceId);
    if (!isBusy && now >= this.#unassignments.pausedUntil) this.#unassignments.begin(interfaceId);
  }

  /** A multi-pool agent may have taken up an address that it has not reported yet. */
  #delayFor(protocol: AgentProtocol): number {
    const { delay, hiddenFor } = this.#deps.policy;
    return protocol === 'crd' ? delay : Math.max(delay, hiddenFor);
  }

  /**
   * Our write makes a concurrent write of a multi-pool agent fail with 409. Hiding restarts the quarantine of
   * everything already hidden. So the next batch waits until the current one is gone.
   */
  #mayHideAt(protocol: AgentProtocol, releases: Releases): number {
    if (protocol === 'crd') return -Infinity;
    return isHiding(releases) ? Infinity : this.#useReportedAt();
  }

  /** From then on a multi-pool agent has had the time to report what it uses. In monotonic ms. */
  #useReportedAt(): number {
    return this.#deps.writtenAt() + this.#deps.policy.hiddenFor;
  }

  #isDue(release: Release, now: number): boolean {
    return release.phase.kind === 'unanswered' || now >= (this.#hiddenUntil(release) ?? Infinity);
  }

  #hiddenUntil({ protocol, phase }: Release): number | undefined {
    if (phase.kind !== 'hidden') return undefined;
    if (protocol === 'crd') return phase.since;
    return Math.max(phase.since + this.#deps.policy.hiddenFor, this.#useReportedAt());
  }

  #awaitNext(releases: Releases, now: number): void {
    const { clock, wake } = this.#deps;
    const times = [...releases.values()].flatMap((release) => {
      const { protocol, phase } = release;
      if (phase.kind !== 'excess') return this.#hiddenUntil(release) ?? [];
      return Math.max(phase.since + this.#delayFor(protocol), this.#mayHideAt(protocol, releases));
    });
    const paused = [this.#unassignments.pausedUntil, this.#retirements.pausedUntil];
    const others = [...paused, this.#quietUntil, ...this.#backoff.ends];
    const next = Math.min(...[...times, ...others].filter((time) => time > now));
    this.#cancelNext?.();
    this.#cancelNext = next < Infinity ? clock.schedule(next - now, wake) : undefined;
  }

  /**
   * The cloud would refuse each call until a refresh shows the interface again or proves it gone. That
   * refresh wakes the node.
   */
  #mayBeGone(interfaceId: string): boolean {
    return this.#deps.facts()?.view.possiblyGone.has(interfaceId) === true;
  }

  /**
   * Checked again right before a call is sent: the owner of the instance may have changed during the wait.
   */
  #dueOn(interfaceId: string): readonly Holding[] {
    if (this.#deps.permission.refusal('release') !== undefined) return [];
    if (this.#mayBeGone(interfaceId)) return [];
    return this.#due(false).filter((holding) => holding.interfaceId === interfaceId);
  }

  #dueWithoutCall(): readonly Holding[] {
    return this.#due(true);
  }

  /** What may go now, with a call or without one. */
  #due(withoutCall: boolean): readonly Holding[] {
    const facts = this.#deps.facts();
    if (facts === undefined) return [];
    const now = this.#deps.clock.monotonic();
    const mustGo = isUnfit(facts.view, facts.requirements);
    return [...(this.#releases ?? nothing).values()]
      .filter((release) => this.#isDue(release, now) && needsNoCall(release, mustGo) === withoutCall)
      .map(({ holding }) => holding);
  }

  #enter(holdings: readonly Holding[], phaseAt: (now: number) => ReleasePhase | undefined): void {
    const releases = new Map(this.#releases);
    const now = this.#deps.clock.monotonic();
    for (const { id } of holdings) {
      const release = releases.get(id);
      const phase = phaseAt(now);
      if (release === undefined || phase === undefined) releases.delete(id);
      else releases.set(id, { ...release, phase });
    }
    this.#releases = releases;
  }

  #subnetOf(interfaceId: string): string {
    const { interfaces = [] } = this.#deps.facts()?.view ?? {};
    return interfaces.find(({ id }) => id === interfaceId)?.subnetId ?? '';
  }
}

/** A release begins as excess: this one is no longer the one that a call was sent for. */
function isOver(release: Release | undefined): boolean {
  return release === undefined || release.phase.kind === 'excess';
}

/** A call that may have been sent is repeated, whatever became of the interface: it may have taken effect. */
function needsNoCall({ holding, phase }: Release, mustGo: (holding: Holding) => boolean): boolean {
  return phase.kind === 'hidden' && mustGo(holding);
}
