// Lines of watches, encoded once however many watchers get them. A commit reaches all its watchers in one go, so
// remembering the last few lines is enough.
import type { JsonObject } from '../json-value.ts';
import type { EventLine } from '../reading/line-stream.ts';
import type { ObjectEvent } from '../reading/watch-events.ts';

const remembered = 16;

export class EventEncoding {
  readonly #recent: PlainEventLine[] = [];

  readonly encode = (event: ObjectEvent): EventLine => {
    const known = this.#recent.find((line) => line.isOf(event));
    if (known !== undefined) return known;
    const line = new PlainEventLine(event);
    this.#recent.push(line);
    if (this.#recent.length > remembered) this.#recent.shift();
    return line;
  };
}

/** Spelt only where somebody reads the text. */
class PlainEventLine implements EventLine {
  readonly event: JsonObject & ObjectEvent;
  #line: string | undefined;

  constructor({ type, object }: ObjectEvent) {
    this.event = { type, object };
  }

  isOf({ type, object }: ObjectEvent): boolean {
    return this.event.object === object && this.event.type === type;
  }

  get line(): string {
    this.#line ??= `${JSON.stringify(this.event)}\n`;
    return this.#line;
  }
}
