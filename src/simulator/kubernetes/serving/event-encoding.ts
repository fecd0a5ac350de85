// Lines of watches, encoded once however many watchers get them. A commit reaches all its watchers in one go, so
// remembering the last few lines is enough.
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ObjectEvent } from '../reading/watch-events.ts';

const remembered = 16;

export class EventEncoding {
  readonly #recent: { readonly type: string; readonly object: KubernetesObject; readonly line: string }[] =
    [];

  readonly encode = ({ type, object }: ObjectEvent): string => {
    const known = this.#recent.find((entry) => entry.object === object && entry.type === type);
    if (known !== undefined) return known.line;
    const line = `${JSON.stringify({ type, object })}\n`;
    this.#recent.push({ type, object, line });
    if (this.#recent.length > remembered) this.#recent.shift();
    return line;
  };
}
