// Takes back what a node has beyond its watermarks: decides what may go, hides it from the agent once the agent agrees,
// and unassigns it after a last look at the CiliumNode as it is at that moment. Only what the agent has been seen to
// give up is ever unassigned.
import type { CiliumNode, ReleaseState } from '../kubernetes/cilium-node.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { Answer } from '../providers/observation.ts';
import type { ReleaseIPs, ReleasePrefixes } from '../providers/operation.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import type { Clock } from '../scheduling/clock.ts';
import { type Backoff, backOff } from '../scheduling/exponential-backoff.ts';
import type { Random } from '../scheduling/random.ts';
import {
  handshakeFor,
  type Holding,
  nextReleases,
  outgoingIn,
  refusedIn,
  type Release,
  type ReleasePhase,
  type Releases,
} from './address-release.ts';
import { type CallTiming, openFor } from './call-timing.ts';
import { type AgentProtocol, protocolOf } from './demand.ts';
import type { NodeRequirements } from './node-requirements.ts';
import {
  holdingsOn,
  recoverReleases,
  releaseCandidates,
  shownTo,
  tellsUse,
  usageOf,
} from './release-candidates.ts';

export interface AddressReleaserDeps {
  readonly instanceId: string;
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  readonly policy: ReleasePolicy;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  /** What is known now of what a release rests on; undefined while the node cannot be served. */
  readonly facts: () => ReleasableFacts | undefined;
  /** Whether addresses are being added to the interface at this moment. */
  readonly isGrowing: (interfaceId: string) => boolean;
  /** Takes the CiliumNode as it is now into what is known; false when that cannot be had now. */
  readonly readNode: (signal: AbortSignal) => Promise<boolean>;
  readonly fold: (answer: Answer) => void;
  /** Something about the instance became unclear. */
  readonly doubt: (from: number) => void;
  /** To be called back through `evaluate`. */
  readonly wake: () => void;
  readonly onRelease: (release: FinishedRelease) => void;
  readonly onBug: (error: unknown) => void;
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

export interface FinishedRelease {
  readonly kind: 'releaseIPs' | 'releasePrefixes';
  readonly interfaceId: string;
  readonly subnetId: string;
  /** Addresses, the members of prefixes counted. */
  readonly count: number;
  /** Undefined when they were given back. */
  readonly failure: CloudFailure | undefined;
  readonly isOpen: boolean;
  /** In ms. */
  readonly duration: number;
}

const backoffPolicy = { base: 1000, cap: 60_000 };
/** What an agent needs, or the cloud refuses to have back, is not asked for again for so long, longer each time, in ms. */
const asidePolicy = { base: 180_000, cap: 3_600_000 };
/** No process takes anything away so soon after it began, in ms: see the fence. */
const quietStart = 20_000;

export class AddressReleaser {
  readonly #deps: AddressReleaserDeps;
  /** Undefined until the instance was read for the first time. */
  #releases: Releases | undefined;
  readonly #aside = new Map<string, Backoff>();
  /** Interfaces with a call under way, or with one whose answer got lost, as long as it may yet take effect. */
  readonly #touched = new Set<string>();
  /** Ids of what was to be unassigned by a call whose answer got lost. */
  readonly #unanswered = new Set<string>();
  /** Interfaces that do not have all that was to be taken from them. */
  readonly #oneByOne = new Set<string>();
  /** By the interface that it is about. */
  readonly #work: BegunWork;
  readonly #quietUntil: number;
  #cancelNext: (() => void) | undefined;
  #backoff: Backoff | undefined;
  /** The cloud refused in a way that trying again does not mend. */
  #refusal: Backoff | undefined;

  constructor(deps: AddressReleaserDeps) {
    this.#deps = deps;
    this.#quietUntil = deps.clock.monotonic() + quietStart;
    this.#work = new BegunWork({
      clock: deps.clock,
      onBug: (error) => {
        deps.onBug(error);
        this.#backOff();
      },
      onEnd: deps.wake,
    });
  }

  /** Addresses that are on their way out: not to be shown to the agent, and not the node's to count on. */
  get outgoing(): ReadonlySet<string> {
    return outgoingIn(this.#releases ?? nothing);
  }

  /** What `status.ipam.release-ips` should hold; undefined until that is known. */
  handshake(known: ReadonlyMap<string, ReleaseState>): ReadonlyMap<string, ReleaseState> | undefined {
    return this.#releases && handshakeFor(this.#releases, known);
  }

  /** Whether addresses must not be added to the interface, because some may yet be taken from it. */
  isShrinking(interfaceId: string): boolean {
    return this.#touched.has(interfaceId);
  }

  /** Interfaces that something is leaving. */
  get interfaces(): ReadonlySet<string> {
    const leaving = [...(this.#releases ?? nothing).values()].filter(({ phase }) => phase.kind !== 'excess');
    return new Set(leaving.map(({ holding }) => holding.interfaceId));
  }

  /** Takes every release as far as it can go now; false while too little is known for that. */
  evaluate(): boolean {
    const facts = this.#work.isClosing ? undefined : this.#deps.facts();
    if (facts === undefined) return false;
    const now = this.#deps.clock.monotonic();
    const before = (this.#releases ??= recoverReleases(facts, now));
    this.#setAside(refusedIn(before, facts.node.status.releaseIps), now);
    this.#releases = this.#step(before, facts, now);
    this.#beginWhatIsDue(this.#releases, now);
    this.#awaitNext(this.#releases, now);
    return true;
  }

  /** No call begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  #step(before: Releases, facts: ReleasableFacts, now: number): Releases {
    const { policy, timing } = this.#deps;
    const { node, view } = facts;
    const isUsed = usageOf(node);
    const isShown = shownTo(node);
    // What an agent that is not asked does not see, it has not dropped.
    const isTaken = (address: string): boolean =>
      isUsed(address) || (protocolOf(node) === 'multi-pool' && !isShown(address));
    const held = new Set(view.interfaces.flatMap(holdingsOn).map(({ id }) => id));
    const mayRelease = policy.enabled && facts.wanted === 0 && tellsUse(node) && this.#mayDecide(now);
    return nextReleases(before, {
      protocol: protocolOf(node),
      candidates: mayRelease
        ? releaseCandidates({ ...facts, isUsed: isTaken, releases: before, aside: this.#asideAt(now) })
        : [],
      reclaimed: this.#reclaimed(before, facts.wanted),
      handshake: node.status.releaseIps,
      isUsed,
      isShown,
      isHeld: ({ id }) => held.has(id),
      now,
      delay: this.#delayFor(protocolOf(node)),
      consistencyWindow: timing.consistencyWindow,
    });
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
  #mayDecide(now: number): boolean {
    const stopped = this.#deps.permission.refusal('takeAway');
    const isRefused = now < (this.#refusal?.until ?? 0);
    return !isRefused && (stopped === undefined || stopped === 'dryRun');
  }

  #asideAt(now: number): ReadonlySet<string> {
    return new Set([...this.#aside].filter(([, { until }]) => now < until).map(([id]) => id));
  }

  #setAside(holdings: readonly Holding[], now: number): void {
    for (const [id, { until }] of this.#aside) if (until + asidePolicy.cap < now) this.#aside.delete(id);
    for (const { id } of holdings) {
      this.#aside.set(id, backOff(this.#aside.get(id), asidePolicy, now, this.#deps.random));
    }
  }

  #beginWhatIsDue(releases: Releases, now: number): void {
    const { permission } = this.#deps;
    if (permission.refusal('takeAway') !== undefined) return;
    // No call would be sent before: trying all the same costs a look and a token each time.
    if (now < Math.max(this.#backoff?.until ?? 0, this.#quietUntil)) return;
    for (const release of releases.values()) {
      const { interfaceId } = release.holding;
      // An interface that is being added to wakes the node when that has ended.
      if (this.#work.isAbout(interfaceId) || this.#deps.isGrowing(interfaceId)) continue;
      if (this.#isDue(release, now)) this.#work.begin(() => this.#run(interfaceId), interfaceId);
    }
  }

  /** What an agent that is not asked took up a moment ago is not in what it tells yet. */
  #delayFor(protocol: AgentProtocol): number {
    const { delay, hiddenFor } = this.#deps.policy;
    return protocol === 'crd' ? delay : Math.max(delay, hiddenFor);
  }

  #isDue({ protocol, phase }: Release, now: number): boolean {
    if (phase.kind === 'unanswered') return true;
    if (phase.kind !== 'hidden') return false;
    return now >= phase.since + (protocol === 'crd' ? 0 : this.#deps.policy.hiddenFor);
  }

  #awaitNext(releases: Releases, now: number): void {
    const { policy, wake } = this.#deps;
    const times = [...releases.values()].flatMap(({ protocol, phase }) => {
      if (phase.kind === 'excess') return phase.since + this.#delayFor(protocol);
      return phase.kind === 'hidden' && protocol === 'multi-pool' ? phase.since + policy.hiddenFor : [];
    });
    const others = [
      this.#backoff?.until ?? 0,
      this.#refusal?.until ?? 0,
      this.#quietUntil,
      ...[...this.#aside.values()].map(({ until }) => until),
    ];
    const next = Math.min(...[...times, ...others].filter((time) => time > now));
    this.#cancelNext?.();
    this.#cancelNext = next < Infinity ? this.#work.later(next - now, wake) : undefined;
  }

  async #run(interfaceId: string): Promise<void> {
    const { implementation, readNode, isGrowing } = this.#deps;
    const { closing: signal } = this.#work;
    const giveBack = await implementation.admit(['releaseIPs'], { urgency, signal });
    // The last look before it is sent: what the agent says now counts, not what it said when it was asked.
    const isRead = await readNode(signal).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (!isRead) this.#backOff();
    const isKnown = isRead && this.evaluate();
    const holdings = isKnown && !isGrowing(interfaceId) ? this.#dueOn(interfaceId) : [];
    if (holdings.length === 0) {
      giveBack();
      return;
    }
    await this.#unassign(interfaceId, holdings);
  }

  /** What is due on an interface, of one kind: prefixes, or single addresses. */
  #dueOn(interfaceId: string): readonly Holding[] {
    const now = this.#deps.clock.monotonic();
    const due = [...(this.#releases ?? nothing).values()]
      .filter((release) => release.holding.interfaceId === interfaceId && this.#isDue(release, now))
      .map(({ holding }) => holding);
    const prefixes = due.filter(isPrefix);
    const alike = prefixes.length > 0 ? prefixes : due;
    return this.#oneByOne.has(interfaceId) ? alike.slice(0, 1) : alike;
  }

  async #unassign(interfaceId: string, holdings: readonly Holding[]): Promise<void> {
    const { implementation, clock } = this.#deps;
    const begunAt = clock.monotonic();
    const subnetId = this.#subnetOf(interfaceId);
    this.#enter(holdings, () => ({ kind: 'unassigning' }));
    this.#touched.add(interfaceId);
    const operation = this.#operation(interfaceId, holdings);
    const outcome = await implementation.perform(operation, { urgency, signal: this.#work.deadline });
    // What was to be taken and is not there was taken.
    const isGone =
      outcome.kind === 'failed' && outcome.failure.kind === 'notAssigned' && holdings.length === 1;
    if (outcome.kind === 'ambiguous') this.#await(interfaceId, holdings);
    else this.#touched.delete(interfaceId);
    if (outcome.kind === 'done' || isGone) {
      this.#released(interfaceId, holdings);
    } else if (outcome.kind === 'failed') this.#failed(interfaceId, holdings, outcome.failure);
    this.#deps.onRelease({
      kind: operation.kind,
      interfaceId,
      subnetId,
      count: holdings.reduce((sum, { addresses }) => sum + addresses.length, 0),
      failure: outcome.kind === 'done' || isGone ? undefined : outcome.failure,
      isOpen: outcome.kind === 'ambiguous',
      duration: clock.monotonic() - begunAt,
    });
  }

  #released(interfaceId: string, holdings: readonly Holding[]): void {
    const { instanceId, fold } = this.#deps;
    for (const { id } of holdings) this.#unanswered.delete(id);
    this.#enter(holdings, (now) => ({ kind: 'released', since: now }));
    fold({ kind: 'released', interfaceId, instanceId, holdings: holdings.map(({ id }) => id) });
    this.#backoff = undefined;
    this.#refusal = undefined;
    if (this.#dueOn(interfaceId).length === 0) this.#oneByOne.delete(interfaceId);
  }

  #operation(interfaceId: string, holdings: readonly Holding[]): ReleaseIPs | ReleasePrefixes {
    const { instanceId } = this.#deps;
    const ids = holdings.map(({ id }) => id);
    return holdings.some(isPrefix)
      ? { kind: 'releasePrefixes', instanceId, interfaceId, prefixes: ids }
      : { kind: 'releaseIPs', instanceId, interfaceId, addresses: ids };
  }

  /**
   * An unassignment whose answer got lost may yet happen: until it can't, nothing is added to the interface, because the
   * late call would take an address away again that was given anew. Repeating it then is safe.
   */
  #await(interfaceId: string, holdings: readonly Holding[]): void {
    const { clock, timing, doubt, wake } = this.#deps;
    doubt(clock.monotonic());
    for (const { id } of holdings) this.#unanswered.add(id);
    this.#work.later(openFor(timing), () => {
      this.#touched.delete(interfaceId);
      this.#hide(holdings);
      wake();
    });
  }

  #failed(interfaceId: string, holdings: readonly Holding[], failure: CloudFailure): void {
    const { clock, doubt } = this.#deps;
    const now = clock.monotonic();
    // One of several is not there: each by itself will say which.
    if (failure.kind === 'notAssigned') this.#oneByOne.add(interfaceId);
    else this.#backOff();
    if (passing.has(failure.kind)) return this.#hide(holdings);
    // Shown to the agent again, unless it may be gone: the cloud won't have anything back for now.
    this.#refusal = backOff(this.#refusal, asidePolicy, now, this.#deps.random);
    const isOpen = ({ id }: Holding): boolean => this.#unanswered.has(id);
    this.#hide(holdings.filter(isOpen));
    this.#enter(
      holdings.filter((holding) => !isOpen(holding)),
      () => undefined,
    );
    doubt(now);
  }

  /** To be tried again: hidden for as long as is asked for. */
  #hide(holdings: readonly Holding[]): void {
    for (const holding of holdings) {
      const isOpen = this.#unanswered.has(holding.id);
      this.#enter([holding], (now) =>
        isOpen ? { kind: 'unanswered' } : { kind: 'hidden', since: now - this.#deps.policy.hiddenFor },
      );
    }
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

  #backOff(): void {
    const { clock, random } = this.#deps;
    this.#backoff = backOff(this.#backoff, backoffPolicy, clock.monotonic(), random);
  }
}

const nothing: Releases = new Map();

const urgency = (): 'release' => 'release';

/** Failures after which the same call may succeed. */
const passing: ReadonlySet<CloudFailure['kind']> = new Set([
  'throttled',
  'fenced',
  'stopped',
  'unreachable',
  'conflict',
  'notYetVisible',
  'notAssigned',
]);

function isPrefix({ id }: Holding): boolean {
  return id.includes('/');
}
