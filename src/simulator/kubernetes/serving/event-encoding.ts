// Encodes each watch line once for all watchers. A commit reaches all its watchers at once, so a few recent
// lines are enough.
import { EventLine } from '../reading/line-stream.ts';
import type { ObjectEvent } from '../reading/watch-events.ts';

const remembered = 16;

export class EventEncoding {
  readonly #recent: EventLine[] = [];

  readonly encode = ({ type, object }: ObjectEvent): EventLine => {
    const known = this.#recent.find(({ event }) => event['object'] === object && event['type'] === type);
    if (known !== undefined) return known;
    const line = new EventLine(type, object);
    this.#recent.push(line);
    if (this.#recent.length > remembered) this.#recent.shift();
    return line;
  };
}
