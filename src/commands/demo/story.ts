// Plays the chapters in order. Each starts when the previous one permits it; one that continues runs beside the next.
import type { Chapter } from './chapter.ts';
import type { LogLine } from './controller-process.ts';
import type { Picture } from './picture.ts';
import type { Screen } from './screen.ts';

interface Begun {
  readonly chapter: Chapter;
  readonly at: number;
  isOver: boolean;
}

export class Story {
  readonly #ahead: Chapter[];
  readonly #begun: Begun[] = [];
  readonly #screen: Pick<Screen, 'turn'>;
  #mayTurn = true;

  constructor(chapters: readonly Chapter[], screen: Pick<Screen, 'turn'>) {
    this.#ahead = [...chapters];
    this.#screen = screen;
  }

  /** Of the last started chapter. */
  get title(): string {
    return this.#begun.at(-1)?.chapter.title ?? '';
  }

  /** Titles of chapters that have not shown everything. */
  get missing(): readonly string[] {
    const open = this.#begun.filter(({ isOver }) => !isOver).map(({ chapter }) => chapter);
    return [...open, ...this.#ahead].map(({ title }) => title);
  }

  hear(line: LogLine): void {
    for (const { chapter } of this.#begun) chapter.hear?.(line);
  }

  /** `now` in ms; starts at most one chapter. */
  look(picture: Picture, now: number): void {
    for (const begun of this.#begun) {
      if (begun.isOver) continue;
      const elapsed = now - begun.at;
      const progress = begun.chapter.watch({ picture, elapsed });
      begun.isOver = progress === 'over';
      if (begun === this.#begun.at(-1))
        this.#mayTurn = progress !== 'underway' || elapsed >= begun.chapter.longest;
    }
    if (this.#mayTurn) this.#turn(picture, now);
  }

  #turn(picture: Picture, now: number): void {
    const chapter = this.#ahead.shift();
    if (chapter === undefined) return;
    this.#mayTurn = false;
    this.#begun.push({ chapter, at: now, isOver: false });
    this.#screen.turn(
      `== ${this.#begun.length}. ${chapter.title}`,
      chapter.look.map((line) => `   ${line}`),
    );
    chapter.begin(picture);
  }
}
