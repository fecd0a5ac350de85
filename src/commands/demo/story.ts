// Plays the chapters in order. Each starts when the previous one permits it, or has come to a standstill; one that continues
// runs beside the next.
import type { Chapter } from './chapter.ts';
import type { LogLine } from './controller-process.ts';
import type { Picture } from './picture.ts';
import { patience, stateOf } from './progress.ts';
import type { Screen } from './screen.ts';

interface StartedChapter {
  readonly chapter: Chapter;
  readonly at: number;
  isOver: boolean;
}

/** How long nothing may change before the next chapter starts anyway, in ms: it may bring back movement. */
const longestPause = patience / 2;

export class Story {
  readonly #ahead: Chapter[];
  readonly #started: StartedChapter[] = [];
  readonly #screen: Pick<Screen, 'turn'>;
  #mayTurn = true;
  #state = '';
  #changedAt = 0;

  constructor(chapters: readonly Chapter[], screen: Pick<Screen, 'turn'>) {
    this.#ahead = [...chapters];
    this.#screen = screen;
  }

  /** The title of the last started chapter. */
  get title(): string {
    return this.#started.at(-1)?.chapter.title ?? '';
  }

  /** Titles of chapters that have not shown everything. */
  get missing(): readonly string[] {
    const open = this.#started.filter(({ isOver }) => !isOver).map(({ chapter }) => chapter);
    return [...open, ...this.#ahead].map(({ title }) => title);
  }

  onLogLine(line: LogLine): void {
    for (const { chapter } of this.#started) chapter.onLogLine?.(line);
  }

  /** `now` in ms; starts at most one chapter. */
  update(picture: Picture, now: number): void {
    this.#noteState(picture, now);
    for (const started of this.#started) {
      if (started.isOver) continue;
      const elapsed = now - started.at;
      const progress = started.chapter.watch({ picture, elapsed });
      started.isOver = progress === 'over';
      if (started === this.#started.at(-1))
        this.#mayTurn = progress !== 'running' || now - this.#changedAt >= longestPause;
    }
    if (this.#mayTurn) this.#turn(picture, now);
  }

  #noteState(picture: Picture, now: number): void {
    const state = stateOf(picture, this.missing);
    if (state === this.#state) return;
    this.#state = state;
    this.#changedAt = now;
  }

  #turn(picture: Picture, now: number): void {
    const chapter = this.#ahead.shift();
    if (chapter === undefined) return;
    this.#mayTurn = false;
    this.#changedAt = now;
    this.#started.push({ chapter, at: now, isOver: false });
    this.#screen.turn(
      `== ${this.#started.length}. ${chapter.title}`,
      chapter.hints.map((line) => `   ${line}`),
    );
    chapter.beginChapter(picture);
  }
}
