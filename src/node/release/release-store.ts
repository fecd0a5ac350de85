// Holds the releases of a node. Each part that must know what is leaving reads them here; only the releaser changes them.
import type { ReleaseState } from '../../kubernetes/cilium-node/cilium-node.ts';
import { type Holding, holdingsIn, isUnfit, placeOf } from '../demand/holdings.ts';
import { isDue, planReleases, type ReleasableFacts, type ReleaseRules, stepTimes } from './release-plan.ts';
import { recoverReleases } from './prepare-ip-release.ts';
import {
  handshakeFor,
  outgoingIn,
  phaseAfter,
  refusedIn,
  type Release,
  type ReleaseOutcome,
  type Releases,
} from './release-state.ts';

/** A holding that may go now. */
export interface DueRelease {
  readonly holding: Holding;
  /** Whether it leaves without a call to the cloud. */
  readonly withoutCall: boolean;
}

const nothing: Releases = new Map();
/** Shared by all nodes without a release. */
const nothingLeaves = { of: nothing, addresses: outgoingIn(nothing) };
const noInterfaces: ReadonlySet<string> = new Set();
const noAddresses: readonly string[] = [];
const noStates: ReadonlyMap<string, ReleaseState> = new Map();

export class ReleaseStore {
  /** Undefined until the instance is read for the first time. */
  #releases: Releases | undefined;
  #outgoing = nothingLeaves;
  /** The basis of the last step; undefined while nothing leaves. */
  #basis: { readonly facts: ReleasableFacts; readonly rules: ReleaseRules } | undefined;

  /** Outgoing addresses: not shown to the agent, and not counted as the node's. The same object until it changes. */
  get outgoing(): ReadonlySet<string> {
    const releases = this.#releases ?? nothing;
    if (this.#outgoing.of !== releases) this.#outgoing = { of: releases, addresses: outgoingIn(releases) };
    return this.#outgoing.addresses;
  }

  /** Whether nothing leaves. Unknown, and so false, until the instance is read. */
  get isEmpty(): boolean {
    return this.#releases?.size === 0;
  }

  /** How many addresses are to be released, or are on their way. */
  get pending(): number {
    const releases = [...(this.#releases ?? nothing).values()];
    const open = releases.filter(({ phase }) => phase.kind !== 'released');
    return open.reduce((sum, { holding }) => sum + holding.addresses.length, 0);
  }

  /** The desired `status.ipam.release-ips`; undefined while unknown. */
  handshake(known: ReadonlyMap<string, ReleaseState>): ReadonlyMap<string, ReleaseState> | undefined {
    return this.isEmpty ? noStates : this.#releases && handshakeFor(this.#releases, known);
  }

  /** Interfaces that are losing something. */
  get interfaces(): ReadonlySet<string> {
    return this.#interfacesOf(({ phase }) => phase.kind !== 'excess');
  }

  /** Interfaces with something that is about to be hidden; the agent may still see it. */
  get striking(): ReadonlySet<string> {
    return this.#interfacesOf(({ phase }) => phase.kind === 'leaving');
  }

  /** Interfaces to which nothing may be added, because a call may still take addresses away. */
  get shrinking(): ReadonlySet<string> {
    return this.#interfacesOf(({ phase }) => phase.kind === 'unassigning');
  }

  /** Whether an earlier call may have taken any of them. */
  isUnanswered(holdings: readonly Holding[]): boolean {
    return holdings.some(({ id }) => this.#releases?.get(id)?.phase.kind === 'unanswered');
  }

  /** Holdings that their agent refuses to give up. */
  refusedIn(handshake: ReadonlyMap<string, ReleaseState>): readonly Holding[] {
    return refusedIn(this.#releases ?? nothing, handshake);
  }

  /** Addresses that are hidden once a look at the pods has shown none of them, by the last step. */
  awaitingLook: readonly string[] = noAddresses;

  /** Advances every release. */
  step(facts: ReleasableFacts, rules: ReleaseRules, now: number): void {
    const before = (this.#releases ??= recoverReleases(facts, now));
    const unseen = new Set<string>();
    const isLookedAt = (addresses: readonly string[]): boolean => {
      const isKnown = rules.podUse.isLookedAt(addresses);
      if (!isKnown) for (const address of addresses) unseen.add(address);
      return isKnown;
    };
    const podUse = { keeps: (address: string) => rules.podUse.keeps(address), isLookedAt };
    const next = planReleases(before, facts, { ...rules, podUse, now });
    this.awaitingLook = unseen.size === 0 ? noAddresses : [...unseen];
    this.#releases = next.size === 0 ? nothing : next;
    this.#basis = next.size === 0 ? undefined : { facts, rules };
  }

  /**
   * Releases due at that time, by the last step; those that have waited longest for a call come first. None that its
   * interface is not known to have: a call would find it released there, while a change may still take it from another one.
   */
  due(now: number): readonly DueRelease[] {
    if (this.#basis === undefined) return [];
    const { facts, rules } = this.#basis;
    const { view, requirements, lastWrite } = facts;
    const mustGo = isUnfit(view, requirements);
    const places = new Set(holdingsIn(view, requirements).map(placeOf));
    return [...(this.#releases ?? nothing).values()]
      .filter(({ holding }) => places.has(placeOf(holding)))
      .filter(({ holding }) => !holding.addresses.some((address) => rules.podUse.keeps(address)))
      .filter((release) => isDue(release, { now, lastWrite, policy: rules.policy }))
      .map((release) => ({ holding: release.holding, withoutCall: needsNoCall(release, mustGo) }));
  }

  /** When the releases may take their next step without a new fact, in monotonic ms; some times may have passed. */
  get times(): readonly number[] {
    if (this.#basis === undefined) return [];
    const { facts, rules } = this.#basis;
    const { lastWrite } = facts;
    const steps = stepTimes(this.#releases ?? nothing, { policy: rules.policy, lastWrite });
    return this.striking.size === 0 ? steps : [...steps, lastWrite.openUntil];
  }

  /**
   * Takes the outcome of the call, or of the retirement, of these holdings. They go behind the others: what the cloud
   * refuses again and again never keeps those from their turn.
   */
  apply(
    holdings: readonly Holding[],
    outcome: ReleaseOutcome,
    at: { readonly now: number; readonly hiddenFor: number },
  ): void {
    const releases = new Map(this.#releases);
    for (const { id } of holdings) {
      const release = releases.get(id);
      releases.delete(id);
      if (release !== undefined)
        releases.set(id, { ...release, phase: phaseAfter(release.phase, outcome, at) });
    }
    this.#releases = releases;
  }

  #interfacesOf(isIncluded: (release: Release) => boolean): ReadonlySet<string> {
    const releases = this.#releases ?? nothing;
    if (releases.size === 0) return noInterfaces;
    return new Set([...releases.values()].filter(isIncluded).map(({ holding }) => holding.interfaceId));
  }
}

/** A call that may have been sent is repeated, whatever became of the interface: it may have taken effect. */
function needsNoCall({ holding, phase }: Release, mustGo: (holding: Holding) => boolean): boolean {
  return phase.kind === 'hidden' && mustGo(holding);
}
