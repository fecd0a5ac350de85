// The way to a port of a pod through the API server, for requests that each open a connection.
import {
  type ForwardingTransport,
  openPodPort,
  type PodPort,
} from '../../kubernetes/port-forward/pod-port.ts';
import type { ApiRefusal } from '../../kubernetes/transport/api-reply.ts';
import { type Json, listAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { Way } from './served-report.ts';

export class PodWay {
  /** Rejects with `refusal`. */
  readonly open: Way;
  #refusal: string | undefined;

  constructor(transport: ForwardingTransport, to: PodPort, signal: AbortSignal) {
    const place = placeOf(to);
    this.open = async () => {
      const opened = await openPodPort(transport, to, signal);
      if (opened.kind === 'open') return { createConnection: () => opened.connection };
      const needed = `${opened.kind === 'denied' ? opened.verb : 'get'} on pods/portforward in ${to.namespace}`;
      this.#refusal ??=
        opened.kind === 'gone' ? `${place} is gone` : inWords(`forward a port of ${place}`, needed, opened);
      throw new Error(this.#refusal);
    };
  }

  /** Why the API server opened no connection; undefined if it did. */
  get refusal(): string | undefined {
    return this.#refusal;
  }
}

export function placeOf({ namespace, pod }: Omit<PodPort, 'port'>): string {
  return `pod ${namespace}/${sanitizedText(pod)}`;
}

/** The first group of a pattern in the command line of any container; undefined if none matches. */
export function argumentOf(pod: Json, pattern: RegExp): string | undefined {
  const words = listAt(pod, 'spec', 'containers').flatMap((container) =>
    ['command', 'args'].flatMap((member) => listAt(container, member).map(String)),
  );
  return pattern.exec(words.join(' '))?.[1];
}

/** `needed`: the right that a denial is about. */
export function inWords(what: string, needed: string, refusal: ApiRefusal): string {
  if (refusal.kind === 'denied' && refusal.status === 401)
    return `cannot ${what}: the API server does not accept the credentials, which may have expired: log in again, or renew those of the kubeconfig: ${refusal.message}`;
  return refusal.kind === 'denied'
    ? `not allowed to ${what}, which needs ${needed}: ${refusal.message}`
    : `cannot ${what}: ${refusal.message}`;
}
