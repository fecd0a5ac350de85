// A body that is written line by line and read at the reader's pace. What is pushed while nobody reads is handed over in
// one piece.

export class LineStream implements AsyncIterable<string> {
  readonly #onClose: () => void;
  #pending: string[] = [];
  #ending: 'no' | 'yes' | Error = 'no';
  #wake: (() => void) | undefined;

  /** `onClose` is called once, when the stream has ended, failed or lost its reader. */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  get isOpen(): boolean {
    return this.#ending === 'no';
  }

  /** Lines that nobody has read yet. */
  get backlog(): number {
    return this.#pending.length;
  }

  push(line: string): void {
    if (!this.isOpen) return;
    this.#pending.push(line);
    this.#wake?.();
  }

  /** Ends after what was pushed. */
  end(): void {
    this.#close('yes');
  }

  /** Breaks off after what was pushed: the reader gets `error`. */
  fail(error: Error): void {
    this.#close(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        if (this.#pending.length > 0) {
          const piece = this.#pending.join('');
          this.#pending = [];
          yield piece;
        } else if (this.#ending instanceof Error) {
          throw this.#ending;
        } else if (this.#ending === 'yes') {
          return;
        } else {
          await this.#nextPush();
        }
      }
    } finally {
      this.#close('yes');
    }
  }

  #nextPush(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #close(ending: 'yes' | Error): void {
    if (!this.isOpen) return;
    this.#ending = ending;
    this.#onClose();
    this.#wake?.();
  }
}
