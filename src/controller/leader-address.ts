// Tells standbys where the leader serves its state, by an annotation of the Lease.
import { hostname, networkInterfaces } from 'node:os';
import type { LeaderElection } from '../kubernetes/lease/leader-election.ts';
import { sanitizedText } from '../network/untrusted-text.ts';
import type { HttpServer } from '../observability/http-server.ts';
import { formatListenAddress } from '../observability/listen-address.ts';

/** The process that wrote it, then its address. */
const annotation = 'headwater/leader-address';

export class LeaderAddress {
  readonly #lease: Pick<LeaderElection, 'annotate' | 'annotation'> | undefined;
  readonly #identity: string;

  /** `identity`: of this process. */
  constructor(lease: Pick<LeaderElection, 'annotate' | 'annotation'> | undefined, identity: string) {
    this.#lease = lease;
    this.#identity = identity;
  }

  /** Lets standbys know where this process serves its state. Call it before this process stands for election. */
  announce(address: string): void {
    this.#lease?.annotate(annotation, `${this.#identity} ${address}`);
  }

  /** Where that process serves its state; undefined if it does not say so: a former leader may have left its own address. */
  of(leader: string | undefined): string | undefined {
    const [identity, ...address] = this.#lease?.annotation(annotation)?.split(' ') ?? [];
    if (leader === undefined || identity !== leader || address.length === 0) return undefined;
    return sanitizedText(address.join(' '), 300);
  }

  /** A standby's words on its leader; undefined if none is known. */
  noteOn(leader: string | undefined): string | undefined {
    const address = this.of(leader);
    return leader && `standing by: ${leader} leads${address === undefined ? '' : ` at ${address}`}`;
  }
}

/** Where other hosts find what listens there; the loopback address names its host. */
export function reachableAt({ host, port }: HttpServer['address']): string {
  if (host !== '::' && host !== '0.0.0.0') {
    const address = formatListenAddress({ host, port });
    return host === '::1' || host.startsWith('127.') ? `${address} on ${hostname()}` : address;
  }
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = own.find(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return formatListenAddress({ host: outside?.address ?? host, port });
}
