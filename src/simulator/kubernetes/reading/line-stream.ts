// A body written line by line and read at the reader's pace. Lines pushed between reads are delivered as one chunk.

import type { EventStream } from '../exchange.ts';
import type { JsonObject } from '../json-value.ts';

/** An event with its line, which is serialized once, and only if the text is read. */
export class EventLine {
  readonly event: JsonObject;
  #line: string | undefined;

  constructor(type: string, object: JsonObject) {
    this.event = { type, object };
  }

  get line(): string {
    this.#line ??= `${JSON.stringify(this.event)}\n`;
    return this.#line;
  }
}

export class LineStream implements EventStream {
  readonly #onClose: () => void;
  #pending: (string | EventLine)[] = [];
  #ending: 'no' | 'yes' | Error = 'no';
  #wake: (() => void) | undefined;

  /** `onClose` is called once, when the stream has ended, failed or lost its reader. */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  get isOpen(): boolean {
    return this.#ending === 'no';
  }

  /** Unread lines. */
  get backlog(): number {
    return this.#pending.length;
  }

  push(line: string | EventLine): void {
    if (!this.isOpen) return;
    this.#pending.push(line);
    this.#wake?.();
  }

  /** Ends after the pushed lines. */
  end(): void {
    this.#close('yes');
  }

  /** Breaks after the pushed lines: the reader gets `error`. */
  fail(error: Error): void {
    this.#close(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for await (const lines of this.#portions())
      yield lines.map((line) => (typeof line === 'string' ? line : line.line)).join('');
  }

  async *events(): AsyncGenerator<JsonObject> {
    for await (const lines of this.#portions()) {
      for (const line of lines) {
        if (typeof line !== 'string') yield line.event;
        else if (line.endsWith('\n')) yield JSON.parse(line) as JsonObject;
      }
    }
  }

  async *#portions(): AsyncGenerator<readonly (string | EventLine)[]> {
    try {
      for (;;) {
        if (this.#pending.length > 0) {
          const lines = this.#pending;
          this.#pending = [];
          yield lines;
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
