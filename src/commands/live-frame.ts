// Lines on a terminal that are redrawn in place.

export class LiveFrame {
  readonly #write: (text: string) => void;
  #drawn = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Replaces what is drawn. The cursor is below the last line, so a full screen would scroll: leave one row. */
  draw(lines: readonly string[]): void {
    this.#write(`${this.#erasure}${lines.map((line) => `${line}\n`).join('')}`);
    this.#drawn = lines.length;
  }

  /** Replaces what is drawn by lines that stay. */
  leave(lines: readonly string[]): void {
    this.draw(lines);
    this.#drawn = 0;
  }

  get #erasure(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\u001b[0J`;
  }
}
