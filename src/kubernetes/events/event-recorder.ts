// Reports what happens to nodes as Kubernetes Events, best effort. It drops what it cannot write; no failure reaches
// the caller.
import type { Clock } from '../../runtime/clock.ts';
import { randomWait, waitBeforeRetry } from '../../runtime/backoff.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import type { Random } from '../../runtime/random.ts';
import { retry } from '../../runtime/retry.ts';
import { ask, type ApiRefusal, type Reply } from '../transport/api-reply.ts';
import {
  type EventAuthor,
  eventName,
  eventObject,
  eventRepetition,
  type EventReport,
  eventsPath,
  type EventSubject,
} from './event-object.ts';
import { LruMap } from './lru-map.ts';
import { SpamFilter } from './spam-filter.ts';
import type { KubernetesTransport } from '../transport/transport.ts';

export interface EventRecorderOptions {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly author: EventAuthor;
  /** Whether events may be written now; events that are due meanwhile are dropped. Default: always. */
  readonly mayWrite?: () => boolean;
  /** Called when we may not write events or the server rejects one; called again only after a successful write. */
  readonly onProblem?: (problem: ApiRefusal) => void;
  readonly onBug: (error: unknown) => void;
}

export interface EventFigures {
  readonly created: number;
  readonly updated: number;
  /** Reports that are never written: rate limited, denied, or the server was unavailable for too long. */
  readonly dropped: number;
  readonly queued: number;
}

/** An occurrence, repeated or not. */
interface Story {
  readonly key: string;
  readonly subject: EventSubject;
  readonly report: EventReport;
  count: number;
  /** Wall clock. */
  first: number;
  last: number;
  name: string;
  /** When its Event was last created or updated, in monotonic ms. */
  writtenAt: number | undefined;
  isQueued: boolean;
  cancelTimer: (() => void) | undefined;
}

const maxStories = 4096;
const maxQueuedEvents = 1000;

/** Minimum time between two writes of the same story, in ms. */
const repeatInterval = 600_000;

/** The API server expires events after an hour by default; then we create a new one. In ms. */
const eventLife = 3_600_000;

/** How long to write nothing after a denial, in ms. */
const deniedInterval = 600_000;

const retries = { max: 6, policy: { base: 1000, cap: 30_000 } };

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #stories: LruMap<string, Story>;
  readonly #spam: SpamFilter;
  readonly #queue: Story[] = [];
  /** Resolves once something is recorded. */
  #recorded = Promise.withResolvers<void>();
  #deniedUntil = -Infinity;
  #isReported = false;
  #created = 0;
  #updated = 0;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#stories = new LruMap(maxStories, (story) => story.cancelTimer?.());
    this.#spam = new SpamFilter(options.clock);
  }

  /** Records an occurrence; returns at once and never throws. `run` writes it. */
  record(subject: EventSubject, report: EventReport): void {
    const { clock } = this.#options;
    if (clock.monotonic() < this.#deniedUntil) {
      this.#dropped++;
      return;
    }
    const key = [subject.kind, subject.name, subject.uid, report.type, report.reason, report.message].join(
      '\n',
    );
    const known = this.#stories.get(key);
    if (known === undefined) this.#beginStory(key, subject, report);
    else this.#continue(known);
  }

  figures(): EventFigures {
    return {
      created: this.#created,
      updated: this.#updated,
      dropped: this.#dropped,
      queued: this.#queue.length,
    };
  }

  /** Writes recorded events until `signal` aborts, then resolves and drops the queue. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#writeNext(signal);
      } catch (error) {
        if (!signal.aborted) this.#options.onBug(error);
      }
    }
    for (const story of this.#stories.values()) story.cancelTimer?.();
  }

  #beginStory(key: string, subject: EventSubject, report: EventReport): void {
    if (!this.#spam.allows(`${subject.kind}/${subject.name}`)) {
      this.#dropped++;
      return;
    }
    const now = this.#options.clock.wall();
    const story: Story = {
      key,
      subject,
      report,
      count: 1,
      first: now,
      last: now,
      name: eventName(subject, this.#options.random.hex(16)),
      writtenAt: undefined,
      isQueued: false,
      cancelTimer: undefined,
    };
    this.#stories.set(key, story);
    this.#enqueue(story);
  }

  #continue(story: Story): void {
    story.count++;
    story.last = this.#options.clock.wall();
    this.#schedule(story);
  }

  /** Enqueues a story as soon as its last write is `repeatInterval` old. */
  #schedule(story: Story): void {
    const { clock } = this.#options;
    if (story.isQueued || story.cancelTimer !== undefined) return;
    const due = (story.writtenAt ?? -Infinity) + repeatInterval;
    if (clock.monotonic() >= due) {
      this.#enqueue(story);
      return;
    }
    story.cancelTimer = clock.schedule(due - clock.monotonic(), () => {
      story.cancelTimer = undefined;
      this.#enqueue(story);
    });
  }

  #enqueue(story: Story): void {
    if (this.#queue.length >= maxQueuedEvents) {
      this.#drop(story);
      return;
    }
    story.isQueued = true;
    this.#queue.push(story);
    this.#recorded.resolve();
  }

  /** Forgets the story; its next report starts a new one. */
  #drop(story: Story): void {
    this.#dropped++;
    this.#stories.delete(story.key);
  }

  async #writeNext(signal: AbortSignal): Promise<void> {
    const story = this.#queue.shift();
    if (story === undefined) {
      this.#recorded = Promise.withResolvers();
      await raceAbort(this.#recorded.promise, signal);
      return;
    }
    const { clock, random, mayWrite } = this.#options;
    const attempt = async (tries: number): Promise<ApiRefusal | 'given up' | undefined> =>
      tries > retries.max || mayWrite?.() === false ? 'given up' : this.#write(story, signal);
    const end = await retry({ clock, signal }, attempt, (refusal, tries) => {
      if (typeof refusal !== 'object' || refusal.kind !== 'unavailable') return undefined;
      return waitBeforeRetry(randomWait(retries.policy, tries, random), refusal.retryAfterMs, random);
    });
    if (end === 'given up') this.#drop(story);
    else if (end !== undefined) this.#refused(story, end);
  }

  /** Creates or updates the Event of a story; undefined after success. */
  async #write(story: Story, signal: AbortSignal): Promise<ApiRefusal | undefined> {
    const { count } = story;
    if (this.#isThere(story)) {
      const reply = await this.#update(story, signal);
      if (reply.kind === 'ok') {
        this.#updated++;
        return this.#written(story, count);
      }
      if (reply.kind !== 'gone') return reply;
    }
    const reply = await this.#create(story, signal);
    // A conflict means that an earlier attempt succeeded and its answer was lost.
    if (reply.kind !== 'ok' && reply.kind !== 'conflict') return reply;
    this.#created++;
    return this.#written(story, count);
  }

  /** Whether the server should still have the Event; if not, gives the next one a new name. */
  #isThere(story: Story): boolean {
    const { clock, random } = this.#options;
    if (story.writtenAt === undefined) return false;
    if (clock.monotonic() - story.writtenAt < eventLife) return true;
    story.name = eventName(story.subject, random.hex(16));
    story.writtenAt = undefined;
    return false;
  }

  #written(story: Story, count: number): undefined {
    this.#isReported = false;
    story.writtenAt = this.#options.clock.monotonic();
    story.isQueued = false;
    // The occurrence was reported again during the write.
    if (story.count > count) this.#schedule(story);
  }

  #create(story: Story, signal: AbortSignal): Promise<Reply> {
    const body = JSON.stringify(
      eventObject(story.name, { ...story, occurrences: story }, this.#options.author),
    );
    const path = eventsPath(story.subject);
    const request = { method: 'POST', path, contentType: 'application/json', body } as const;
    return ask(this.#options.transport, request, signal);
  }

  #update(story: Story, signal: AbortSignal): Promise<Reply> {
    const body = JSON.stringify(eventRepetition(story));
    const path = `${eventsPath(story.subject)}/${encodeURIComponent(story.name)}`;
    const request = { method: 'PATCH', path, contentType: 'application/merge-patch+json', body } as const;
    return ask(this.#options.transport, request, signal);
  }

  #refused(story: Story, refusal: ApiRefusal): void {
    this.#drop(story);
    if (refusal.kind === 'denied') {
      this.#deniedUntil = this.#options.clock.monotonic() + deniedInterval;
      for (const waiting of this.#queue.splice(0)) this.#drop(waiting);
    }
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.onProblem?.(refusal);
  }
}
