// Counts each client's requests on the server side, so tests need not rely on the client's own count.
import type { KubernetesRequest } from '../exchange.ts';
import type { ResourceTarget } from './request-target.ts';

export interface RequestCount {
  /** The client's user agent. */
  readonly userAgent: string;
  readonly method: string;
  /** `ciliumnodes/status`, or the path if it names no resource. */
  readonly resource: string;
  readonly count: number;
}

export class RequestCounts {
  readonly #counts = new Map<string, RequestCount>();
  #total = 0;

  /** `target`: what the path names, if anything. */
  add({ method, headers }: KubernetesRequest, path: string, target: ResourceTarget | undefined): void {
    this.#total++;
    const userAgent = headers['user-agent'] ?? '';
    const resource =
      target === undefined
        ? path
        : target.subresource === ''
          ? target.resource
          : `${target.resource}/${target.subresource}`;
    const key = `${userAgent} ${method} ${resource}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { userAgent, method, resource, count });
  }

  /** All requests, including those before the last reset. */
  get total(): number {
    return this.#total;
  }

  /** In a fixed order. */
  all(): readonly RequestCount[] {
    return [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }

  reset(): void {
    this.#counts.clear();
  }
}
