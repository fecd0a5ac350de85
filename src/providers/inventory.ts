// What exists in the cloud on the instances that Headwater serves: the one memory of interfaces and addresses. It is fed
// by listings, by looks at single instances and by the answers to our own calls, and it never asks anybody anything.
import type { InstanceView } from './instance-view.ts';
import type { NetworkInterface } from './network-interface.ts';
import type { Answer, Observation } from './observation.ts';
import { type Look, type Recalled, TrackedInstance, type Unattached } from './tracked-instance.ts';

/** A listing under way. Pages add as they come; only its end says that an instance was answered for completely. */
export interface Listing {
  /** Whether the end of the listing will answer for this instance. */
  covers(instanceId: string): boolean;
  fold(observations: readonly Observation[], begunAt: number): void;
  /**
   * Returns the instances that the listing changed, read for the first time, or cast doubt on. Pauses now and then, so that
   * others can get a turn; what happens to an instance in a pause counts as if it had happened before the listing's last page.
   */
  end(): Generator<undefined, ReadonlySet<string>>;
}

/** So many instances are answered for between two pauses. */
const batch = 50;

/** Older readings of detached interfaces are not acted on, in ms. */
const longestMemory = 600_000;

export class Inventory {
  readonly #consistencyWindow: number;
  readonly #instances = new Map<string, TrackedInstance>();
  /** What was known of instances that are not tracked any more, for as long as the cloud may show less. */
  readonly #former = new Map<string, { readonly tracked: TrackedInstance; readonly until: number }>();
  /** Interfaces that we are about to attach: those we created, and those that were left over. */
  readonly #unattached = new Map<string, Unattached>();
  /** When a call of ours last changed what an interface has, for as long as readings may show it without. */
  readonly #changedAt = new Map<string, number>();

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(options: { readonly consistencyWindow: number }) {
    this.#consistencyWindow = options.consistencyWindow;
  }

  /**
   * Begins to keep what the cloud shows of an instance. `recalled` is what was known of it before this process
   * started: it is believed until two looks disprove it. An instance that was tracked until less than a consistency
   * window before `now` is taken up again where it was left, to be looked at anew. `mentioned`: addresses that were
   * known to be on their way out; undefined where nothing could have been taken away.
   */
  track(
    instanceId: string,
    recalled: readonly NetworkInterface[] = [],
    now = Infinity,
    mentioned?: ReadonlySet<string>,
  ): void {
    if (this.#instances.has(instanceId)) return;
    for (const [id, { until }] of this.#former) if (until <= now) this.#former.delete(id);
    const former = this.#former.get(instanceId)?.tracked;
    this.#former.delete(instanceId);
    this.#instances.set(
      instanceId,
      former ??
        new TrackedInstance(
          instanceId,
          recalled,
          this.#consistencyWindow,
          mentioned && { takenAt: now, mentioned },
        ),
    );
    former?.doubt(now);
  }

  /**
   * A newer state became known than the one that `track` was told of: what a process before this one showed there is
   * remembered as well.
   */
  recallAlso(instanceId: string, newer: Recalled, now: number): void {
    this.#instances.get(instanceId)?.recallAlso(newer, now);
  }

  untrack(instanceId: string, now: number): void {
    const tracked = this.#instances.get(instanceId);
    this.#instances.delete(instanceId);
    if (tracked !== undefined)
      this.#former.set(instanceId, { tracked, until: now + this.#consistencyWindow });
  }

  /** Undefined for an instance that is not tracked. The same object as long as nothing changed. */
  view(instanceId: string): InstanceView | undefined {
    return this.#instances.get(instanceId)?.view;
  }

  /** Another instance claims these addresses too: the next look at this one decides about them. */
  contest(instanceId: string, addresses: readonly string[], now: number): void {
    this.#instances.get(instanceId)?.contest(addresses, now);
  }

  /** Something about this instance is unclear: it should be looked at. */
  doubt(instanceId: string, from: number): void {
    this.#instances.get(instanceId)?.doubt(from);
  }

  /**
   * A reading that was begun then shows the interface attached to nothing. The instance that has it as far as is known, if
   * one does: where the reading is sure to be newer than that, it should be looked at.
   */
  seenDetached(interfaceId: string, begunAt: number): string | undefined {
    for (const [instanceId, tracked] of this.#instances) {
      if (tracked.seenDetached(interfaceId, begunAt)) return instanceId;
    }
    return undefined;
  }

  beginListing(begunAt: number): Listing {
    const shown = new Set<string>();
    const changed = new Set<string>();
    const listed = new Map(this.#instances);
    const end = (id: string, tracked: TrackedInstance): void => {
      // Tracked since the listing began, or gone: it was not asked about.
      if (this.#instances.get(id) !== tracked) return;
      if (tracked.endListing(begunAt, (interfaceId) => shown.has(`${id}/${interfaceId}`))) changed.add(id);
    };
    return {
      covers: (id) => listed.has(id) && listed.get(id) === this.#instances.get(id),
      fold: (observations, pageBegunAt) => {
        for (const observation of observations) {
          const tracked = this.#instances.get(instanceOf(observation) ?? '');
          if (tracked === undefined) continue;
          if (observation.kind !== 'instance') shown.add(`${tracked.id}/${observation.interface.id}`);
          const met = this.#met(observation);
          const isNews = tracked.foldListed(observation, pageBegunAt);
          if (foldMet(tracked, met, pageBegunAt) || isNews) changed.add(tracked.id);
        }
      },
      *end() {
        let ended = 0;
        for (const [id, tracked] of listed) {
          if (ended++ % batch === batch - 1) yield;
          end(id, tracked);
        }
        return changed;
      },
    };
  }

  /** Folds the complete answer to a look at `instanceIds` in; returns those of them that it changed. */
  foldLook(look: Look & { readonly instanceIds: readonly string[] }): ReadonlySet<string> {
    const byInstance = Map.groupBy(look.observations, instanceOf);
    const met = look.observations.flatMap((observation) => this.#met(observation));
    const changed = look.instanceIds.filter((id) => {
      const tracked = this.#instances.get(id);
      if (tracked === undefined) return false;
      const isNews = tracked.foldLook({ ...look, observations: byInstance.get(id) ?? [] });
      return foldMet(tracked, met, look.endedAt) || isNews;
    });
    return new Set(changed);
  }

  /** Folds in what a call of ours brought about, at the moment its answer came; returns the instances it changed. */
  foldAnswer(answer: Answer, endedAt: number): ReadonlySet<string> {
    if (answer.kind === 'created') {
      this.#unattached.set(answer.interface.id, { interface: answer.interface, knownAt: endedAt });
      return new Set();
    }
    const { interfaceId } = answer;
    this.#note(answer, endedAt);
    const made = this.#unattached.get(interfaceId);
    if (answer.kind === 'deleted' || answer.kind === 'attached') this.#unattached.delete(interfaceId);
    if (answer.kind === 'deleted') return this.#foldDeleted(interfaceId, endedAt);
    const tracked = this.#instances.get(answer.instanceId);
    const changed = tracked !== undefined && foldInto(tracked, answer, { made, endedAt });
    return new Set(changed ? [answer.instanceId] : []);
  }

  #foldDeleted(interfaceId: string, endedAt: number): ReadonlySet<string> {
    const changed = [...this.#instances.values()].filter((tracked) =>
      tracked.foldDeleted(interfaceId, endedAt),
    );
    return new Set(changed.map(({ id }) => id));
  }

  /** When a call of ours last changed what an interface has, in monotonic ms; -Infinity where none did of late. */
  changedAt(interfaceId: string): number {
    return this.#changedAt.get(interfaceId) ?? -Infinity;
  }

  #note({ kind, interfaceId }: Exclude<Answer, { kind: 'created' }>, endedAt: number): void {
    for (const [id, at] of this.#changedAt) {
      if (at > endedAt - longestMemory) break;
      this.#changedAt.delete(id);
    }
    if (kind !== 'allocated' && kind !== 'released') return;
    this.#changedAt.delete(interfaceId);
    this.#changedAt.set(interfaceId, endedAt);
  }

  /** A detached interface is about to be attached: what it is has to be known when it is. */
  adopt(item: NetworkInterface): void {
    // How old a reading of it may be is not known: what our own calls gave others is newer.
    this.#unattached.set(item.id, { interface: item, knownAt: -Infinity });
  }

  /** Nothing more is done to attach an interface. */
  abandon(interfaceId: string): void {
    this.#unattached.delete(interfaceId);
  }

  /** What is attached is not waiting for it any more. */
  #met(observation: Observation): readonly Met[] {
    if (observation.kind !== 'interface') return nothingMet;
    const { interface: shown } = observation;
    const made = this.#unattached.get(shown.id);
    if (made === undefined) return nothingMet;
    this.#unattached.delete(shown.id);
    return [{ shown, made }];
  }
}

/** A reading shows it attached, where the call that was to attach it was never heard to have done so. */
interface Met {
  readonly shown: NetworkInterface;
  readonly made: Unattached;
}

/** Of nearly every interface that a listing shows. */
const nothingMet: readonly Met[] = [];

function foldMet(tracked: TrackedInstance, met: readonly Met[], at: number): boolean {
  let changed = false;
  for (const { shown, made } of met) {
    const isIts = shown.attachment?.instanceId === tracked.id;
    if (isIts && tracked.foldMet(shown, made, at)) changed = true;
  }
  return changed;
}

function foldInto(
  tracked: TrackedInstance,
  answer: Exclude<Answer, { kind: 'created' | 'deleted' }>,
  { made, endedAt }: { readonly made: Unattached | undefined; readonly endedAt: number },
): boolean {
  switch (answer.kind) {
    case 'attached':
      return tracked.foldAttached(answer, made, endedAt);
    case 'allocated':
      return tracked.foldAllocated(answer, endedAt);
    case 'released':
      return tracked.foldReleased(answer.interfaceId, answer.holdings, endedAt);
    case 'detached':
      return tracked.foldDetached(answer.interfaceId, endedAt);
    case 'staticIPAssociated':
      return tracked.foldPublicAddress(answer.interfaceId, answer.publicAddress, endedAt);
    case 'deleteOnTerminationSet':
      return tracked.foldDeleteOnTermination(answer.interfaceId, endedAt);
    case 'notFound':
      return tracked.foldNotFound(answer.interfaceId, endedAt);
  }
}

function instanceOf(observation: Observation): string | undefined {
  switch (observation.kind) {
    case 'interface':
      return observation.interface.attachment?.instanceId;
    case 'unreadableInterface':
      return observation.interface.instanceId;
    case 'instance':
      return observation.instance.id;
  }
}
