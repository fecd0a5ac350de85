// Takes back what a node has beyond its watermarks: decides what may go, hides it from the agent once the agent agrees,
// and unassigns it after a last look at the CiliumNode as it is at that moment. Only what the agent has been seen to
// give up is ever unassigned.
import type { CiliumNode, ReleaseState } from '../kubernetes/cilium-node.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import {
  handshakeFor,
  type Holding,
  isHiding,
  nextReleases,
  outgoingIn,
  refusedIn,
  type Release,
  type ReleasePhase,
  type Releases,
} from './address-release.ts';
import { type AgentProtocol, protocolOf } from './demand.ts';
import type { NodeRequirements } from './node-requirements.ts';
import { Refusals } from './refusals.ts';
import {
  holdingsOn,
  recoverReleases,
  releaseCandidates,
  shownTo,
  tellsUse,
  usageOf,
} from './release-candidates.ts';
import { Unassignments, type UnassignmentsDeps } from './unassignments.ts';

export interface AddressReleaserDeps
  extends Omit<UnassignmentsDeps, 'evaluate' | 'due' | 'subnetOf' | 'enter' | 'onAccepted' | 'onRefused'> {
  readonly policy: ReleasePolicy;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  /** When this process last wrote the CiliumNode, in monotonic ms; -Infinity if it has not. */
  readonly writtenAt: () => number;
  /** What is known now of what a release rests on; undefined while the node cannot be served. */
  readonly facts: () => ReleasableFacts | undefined;
}

export interface ReleasePolicy {
  /** Whether addresses in excess are released at all. */
  readonly enabled: boolean;
  /** How long something must be in excess before it is released, in ms. */
  readonly delay: number;
  /** How long it stays hidden from agents that are not asked, in ms. */
  readonly hiddenFor: number;
  /** How long an interface must be without pod addresses before it is given back, in ms; undefined keeps it. */
  readonly idleDelay: number | undefined;
}

export interface ReleasableFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  /** Addresses beyond the watermarks, and addresses to gain; what is outgoing counts as gone. */
  readonly excess: number;
  readonly wanted: number;
}

/** No process takes anything away so soon after it began, in ms: see the fence. */
const quietStart = 20_000;

const nothing: Releases = new Map();
/** Of nearly all nodes: one for all of them. */
const nobodyLeaves = { of: nothing, addresses: outgoingIn(nothing) };

export class AddressReleaser {
  readonly #deps: AddressReleaserDeps;
  /** Undefined until the instance was read for the first time. */
  #releases: Releases | undefined;
  #outgoing = nobodyLeaves;
  readonly #refusals: Refusals;
  readonly #unassignments: Unassignments;
  readonly #quietUntil: number;
  /** No release steps on any more. */
  #isStopped = false;
  #cancelNext: (() => void) | undefined;

  constructor(deps: AddressReleaserDeps) {
    this.#deps = deps;
    this.#quietUntil = deps.clock.monotonic() + quietStart;
    this.#refusals = new Refusals(deps);
    this.#unassignments = new Unassignments({
      ...deps,
      evaluate: () => this.evaluate(),
      due: (interfaceId) => this.#dueOn(interfaceId),
      subnetOf: (interfaceId) => this.#subnetOf(interfaceId),
      enter: (holdings, phaseAt) => this.#enter(holdings, phaseAt),
      onAccepted: () => this.#refusals.cloudAccepted(),
      onRefused: () => this.#refusals.cloudRefused(),
    });
  }

  /** Addresses that are on their way out: not to be shown to the agent, and not the node's to count on. */
  get outgoing(): ReadonlySet<string> {
    const releases = this.#releases ?? nothing;
    if (this.#outgoing.of !== releases) this.#outgoing = { of: releases, addresses: outgoingIn(releases) };
    return this.#outgoing.addresses;
  }

  /** What `status.ipam.release-ips` should hold; undefined until that is known. */
  handshake(known: ReadonlyMap<string, ReleaseState>): ReadonlyMap<string, ReleaseState> | undefined {
    return this.#releases && handshakeFor(this.#releases, known);
  }

  /** Whether addresses must not be added to the interface, because some may yet be taken from it. */
  isShrinking(interfaceId: string): boolean {
    return this.#unassignments.mayTouch(interfaceId);
  }

  /** Interfaces that something is leaving. */
  get interfaces(): ReadonlySet<string> {
    const leaving = [...(this.#releases ?? nothing).values()].filter(({ phase }) => phase.kind !== 'excess');
    return new Set(leaving.map(({ holding }) => holding.interfaceId));
  }

  /** Takes every release as far as it can go now; false while too little is known for that. */
  evaluate(): boolean {
    const facts = this.#isStopped ? undefined : this.#deps.facts();
    if (facts === undefined) return false;
    const now = this.#deps.clock.monotonic();
    const before = (this.#releases ??= recoverReleases(facts, now));
    this.#refusals.agentKeeps(refusedIn(before, facts.node.status.releaseIps));
    const next = this.#step(before, facts, now);
    this.#releases = next.size === 0 ? nothing : next;
    this.#beginWhatIsDue(this.#releases, now);
    this.#awaitNext(this.#releases, now);
    return true;
  }

  /** No call begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext?.();
    return this.#unassignments.stop(deadline);
  }

  #step(before: Releases, facts: ReleasableFacts, now: number): Releases {
    const { policy, timing } = this.#deps;
    const { node, view } = facts;
    const mayRelease =
      policy.enabled && facts.wanted === 0 && facts.excess > 0 && tellsUse(node) && this.#mayDecide();
    if (before.size === 0 && !mayRelease) return before;
    const isUsed = usageOf(node);
    const isShown = shownTo(node);
    // What an agent that is not asked does not see, it has not dropped.
    const isTaken = (address: string): boolean =>
      isUsed(address) || (protocolOf(node) === 'multi-pool' && !isShown(address));
    const held = view.interfaces.flatMap(holdingsOn);
    const ids = new Set(held.map(({ id }) => id));
    const places = new Set(held.map(placeOf));
    const next = (releases: Releases): Releases =>
      nextReleases(releases, {
        protocol: protocolOf(node),
        candidates: mayRelease
          ? releaseCandidates({ ...facts, isUsed: isTaken, releases, aside: this.#refusals.aside })
          : [],
        reclaimed: this.#reclaimed(releases, facts.wanted),
        handshake: node.status.releaseIps,
        isUsed,
        isShown,
        isHeld: (holding) => places.has(placeOf(holding)),
        isBack: ({ id }) => ids.has(id),
        now,
        delay: this.#delayFor(protocolOf(node)),
        unsaidUntil: this.#unsaidUntil(protocolOf(node), releases),
        consistencyWindow: timing.consistencyWindow,
      });
    const after = next(before);
    // What waited for others to be gone need not wait for the next time.
    return isHiding(before) && !isHiding(after) ? next(after) : after;
  }

  /** What is needed after all: the cheapest address is one that is still there. */
  #reclaimed(releases: Releases, wanted: number): ReadonlySet<string> {
    const reclaimed = new Set<string>();
    let left = this.#deps.policy.enabled ? wanted : Infinity;
    for (const [id, { holding, phase }] of releases) {
      if (left <= 0) break;
      if (phase.kind !== 'leaving' && phase.kind !== 'hidden') continue;
      reclaimed.add(id);
      left -= holding.addresses.length;
    }
    return reclaimed;
  }

  /** A dry run decides all the same. */
  #mayDecide(): boolean {
    const stopped = this.#deps.permission.refusal('takeAway');
    return !this.#refusals.isOfCloud && (stopped === undefined || stopped === 'dryRun');
  }

  #beginWhatIsDue(releases: Releases, now: number): void {
    const { permission } = this.#deps;
    if (permission.refusal('takeAway') !== undefined) return;
    // No call would be sent before: trying all the same costs a look and a token each time.
    if (now < Math.max(this.#unassignments.pausedUntil, this.#quietUntil)) return;
    for (const release of releases.values()) {
      const { interfaceId } = release.holding;
      // An interface that is being added to wakes the node when that has ended.
      if (this.#deps.isGrowing(interfaceId)) continue;
      if (this.#isDue(release, now)) this.#unassignments.begin(interfaceId);
    }
  }

  /** What an agent that is not asked took up a moment ago is not in what it tells yet. */
  #delayFor(protocol: AgentProtocol): number {
    const { delay, hiddenFor } = this.#deps.policy;
    return protocol === 'crd' ? delay : Math.max(delay, hiddenFor);
  }

  /**
   * Each write of ours is in the way of one that such an agent makes at the same time: it has to try once more. To hide is
   * to write, and would put off what is hidden already, again and again: the next go together once that is gone.
   */
  #unsaidUntil(protocol: AgentProtocol, releases: Releases): number {
    if (protocol === 'crd') return -Infinity;
    return isHiding(releases) ? Infinity : this.#saidAt();
  }

  /** When an agent that is not asked has had the time to say what it uses. */
  #saidAt(): number {
    return this.#deps.writtenAt() + this.#deps.policy.hiddenFor;
  }

  #isDue(release: Release, now: number): boolean {
    return release.phase.kind === 'unanswered' || now >= (this.#hiddenUntil(release) ?? Infinity);
  }

  #hiddenUntil({ protocol, phase }: Release): number | undefined {
    if (phase.kind !== 'hidden') return undefined;
    if (protocol === 'crd') return phase.since;
    return Math.max(phase.since + this.#deps.policy.hiddenFor, this.#saidAt());
  }

  #awaitNext(releases: Releases, now: number): void {
    const { clock, wake } = this.#deps;
    const times = [...releases.values()].flatMap((release) => {
      const { protocol, phase } = release;
      if (phase.kind !== 'excess') return this.#hiddenUntil(release) ?? [];
      return Math.max(phase.since + this.#delayFor(protocol), this.#unsaidUntil(protocol, releases));
    });
    const others = [this.#unassignments.pausedUntil, this.#quietUntil, ...this.#refusals.ends];
    const next = Math.min(...[...times, ...others].filter((time) => time > now));
    this.#cancelNext?.();
    this.#cancelNext = next < Infinity ? clock.schedule(next - now, wake) : undefined;
  }

  #dueOn(interfaceId: string): readonly Holding[] {
    const now = this.#deps.clock.monotonic();
    return [...(this.#releases ?? nothing).values()]
      .filter((release) => release.holding.interfaceId === interfaceId && this.#isDue(release, now))
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

function placeOf({ interfaceId, id }: Pick<Holding, 'interfaceId' | 'id'>): string {
  return `${interfaceId} ${id}`;
}
