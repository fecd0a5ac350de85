// Tells people what happens to their nodes, as Kubernetes Events. It never gets in the way: what it cannot write it drops,
// and nothing of it reaches the caller.
import { type Clock, sleep } from '../scheduling/clock.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import type { Random } from '../scheduling/random.ts';
import { ask, type Refusal, type Reply } from './api-reply.ts';
import {
  type EventAuthor,
  eventName,
  eventObject,
  eventRepetition,
  type EventReport,
  eventsPath,
  type EventSubject,
} from './event-object.ts';
import { RecentlyUsed } from './recently-used.ts';
import { SpamFilter } from './spam-filter.ts';
import type { KubernetesTransport } from './transport.ts';

export interface EventRecorderOptions {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly author: EventAuthor;
  /** Whether events are written now; what is due while they are not is dropped. Absent: always. */
  readonly mayWrite?: () => boolean;
  /** We may not write events, or the server will not have one: told once until one is written again. */
  readonly onProblem?: (problem: Refusal) => void;
  readonly onBug: (error: unknown) => void;
}

export interface EventFigures {
  readonly created: number;
  readonly updated: number;
  /** Reports that never will be written: too many, denied, or the server away for long. */
  readonly dropped: number;
  readonly queued: number;
}

/** Something that happened, once or several times. */
interface Story {
  readonly key: string;
  readonly subject: EventSubject;
  readonly report: EventReport;
  count: number;
  /** On the wall clock. */
  first: number;
  last: number;
  /** Of its event. */
  name: string;
  /** When its event was last created or updated, in monotonic ms. */
  writtenAt: number | undefined;
  isQueued: boolean;
  cancelTimer: (() => void) | undefined;
}

const mostStories = 4096;
const mostQueued = 1000;

/** Between two writes about the same story, in ms. */
const repeatInterval = 600_000;

/** The API server forgets events after an hour unless told otherwise; then one is to be made anew, in ms. */
const eventLife = 3_600_000;

/** After a refusal for lack of permission nothing is tried for so long, in ms. */
const deniedInterval = 600_000;

const retries = { most: 6, policy: { base: 1000, cap: 30_000 } };

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #stories: RecentlyUsed<string, Story>;
  readonly #spam: SpamFilter;
  readonly #queue: Story[] = [];
  #wake: () => void = () => undefined;
  #deniedUntil = -Infinity;
  #isToldOf = false;
  #created = 0;
  #updated = 0;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#stories = new RecentlyUsed(mostStories, (story) => story.cancelTimer?.());
    this.#spam = new SpamFilter(options.clock);
  }

  /** Takes note of something; returns at once and never throws. It is written while `run` runs. */
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
    if (known === undefined) this.#begin(key, subject, report);
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

  /** Writes what is recorded until `signal` is aborted; resolves then. What is still waiting is dropped. */
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

  #begin(key: string, subject: EventSubject, report: EventReport): void {
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

  /** Has what is new of a story written as soon as its last write is long enough ago. */
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
    if (this.#queue.length >= mostQueued) {
      this.#drop(story);
      return;
    }
    story.isQueued = true;
    this.#queue.push(story);
    this.#wake();
  }

  /** Its next report begins it anew. */
  #drop(story: Story): void {
    this.#dropped++;
    this.#stories.delete(story.key);
  }

  async #writeNext(signal: AbortSignal): Promise<void> {
    const story = this.#queue.shift();
    if (story === undefined) {
      await this.#recorded(signal);
      return;
    }
    const { clock } = this.#options;
    const streak = new FailureStreak(retries.policy, this.#options);
    while (streak.failures < retries.most) {
      if (this.#options.mayWrite?.() === false) break;
      const refusal = await this.#write(story, signal);
      if (refusal === undefined) return;
      if (refusal.kind !== 'unavailable') {
        this.#refused(story, refusal);
        return;
      }
      await sleep(clock, Math.max(streak.fail(), refusal.retryAfterMs ?? 0), signal);
    }
    this.#drop(story);
  }

  #recorded(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted || this.#queue.length > 0) done();
    });
  }

  /** Creates the event of a story or updates it; undefined when it is written. */
  async #write(story: Story, signal: AbortSignal): Promise<Refusal | undefined> {
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
    // A conflict is an earlier attempt whose answer was lost.
    if (reply.kind !== 'ok' && reply.kind !== 'conflict') return reply;
    this.#created++;
    return this.#written(story, count);
  }

  /** Whether the server can still be expected to have its event; if not, the next one has another name. */
  #isThere(story: Story): boolean {
    const { clock, random } = this.#options;
    if (story.writtenAt === undefined) return false;
    if (clock.monotonic() - story.writtenAt < eventLife) return true;
    story.name = eventName(story.subject, random.hex(16));
    story.writtenAt = undefined;
    return false;
  }

  #written(story: Story, count: number): undefined {
    this.#isToldOf = false;
    story.writtenAt = this.#options.clock.monotonic();
    story.isQueued = false;
    // It happened again while it was being written.
    if (story.count > count) this.#schedule(story);
  }

  #create(story: Story, signal: AbortSignal): Promise<Reply> {
    const body = JSON.stringify(
      eventObject(story.name, { ...story, occurrences: story }, this.#options.author),
    );
    const request = { method: 'POST', path: eventsPath, contentType: 'application/json', body } as const;
    return ask(this.#options.transport, request, signal);
  }

  #update(story: Story, signal: AbortSignal): Promise<Reply> {
    const body = JSON.stringify(eventRepetition(story));
    const path = `${eventsPath}/${encodeURIComponent(story.name)}`;
    const request = { method: 'PATCH', path, contentType: 'application/merge-patch+json', body } as const;
    return ask(this.#options.transport, request, signal);
  }

  #refused(story: Story, refusal: Refusal): void {
    this.#drop(story);
    if (refusal.kind === 'denied') {
      this.#deniedUntil = this.#options.clock.monotonic() + deniedInterval;
      for (const waiting of this.#queue.splice(0)) this.#drop(waiting);
    }
    if (this.#isToldOf) return;
    this.#isToldOf = true;
    this.#options.onProblem?.(refusal);
  }
}
