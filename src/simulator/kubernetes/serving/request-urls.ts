// Caches parsed request URLs: agents and controllers request the same few objects all the time.
import { resourceTargetOf, type ResourceTarget } from './request-target.ts';

export interface RequestUrl {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The resource that the path names, if any. */
  readonly target: ResourceTarget | undefined;
}

/** More URLs than a cluster requests in turn; beyond this, all are dropped. */
const maxKnownUrls = 1000;

export class RequestUrls {
  readonly #known = new Map<string, RequestUrl>();

  /** `url`: path and query, as on the request line. */
  read(url: string): RequestUrl {
    const known = this.#known.get(url);
    if (known !== undefined) return known;
    const { pathname: path, searchParams: query } = new URL(url, 'http://kubernetes');
    const read = { path, query, target: resourceTargetOf(path) };
    if (this.#known.size >= maxKnownUrls) this.#known.clear();
    this.#known.set(url, read);
    return read;
  }
}
