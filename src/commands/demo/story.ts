// Plays the chapters in order. Each starts when the previous one permits it; one that continues runs beside the next.
import type { Chapter } from './chapter.ts';
import type { LogLine } from './controller-process.ts';
import type { Picture } from './picture.ts';
import type { Screen } from './screen.ts';

interface StartedChapter {
  readonly chapter: Chapter;
  readonly at: number;
  isOver: boolean;
}

export class Story {
  readonly #ahead: Chapter[];
  readonly #started: StartedChapter[] = [];
  readonly #screen: Pick<Screen, 'turn'>;
  #mayTurn = true;

  constructor(chapters: readonly Chapter[], screen: Pick<Screen, 'turn'>) {
    this.#ahead = [...chapters];
    this.#screen = screen;
  }

  /** Of the last started chapter. */
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
    for (const started of this.#started) {
      if (started.isOver) continue;
      const elapsed = now - started.at;
      const progress = started.chapter.watch({ picture, elapsed });
      started.isOver = progress === 'over';
      if (started === this.#started.at(-1))
        this.#mayTurn = progress !== 'running' || elapsed >= started.chapter.max;
    }
    if (this.#mayTurn) this.#turn(picture, now);
  }

  #turn(picture: Picture, now: number): void {
    const chapter = this.#ahead.shift();
    if (chapter === undefined) return;
    this.#mayTurn = false;
    this.#started.push({ chapter, at: now, isOver: false });
    this.#screen.turn(
      `== ${this.#started.length}. ${chapter.title}`,
      chapter.hints.map((line) => `   ${line}`),
    );
    chapter.beginChapter(picture);
  }
}
