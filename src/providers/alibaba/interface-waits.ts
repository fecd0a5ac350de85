// Waits until interfaces are created and attached. The cloud accepts both at once and goes on for seconds, and only a later
// read shows the end. Those that wait share reads of up to 100 interfaces.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { type GroupRead, Poller, type Progress } from '../pending/poller.ts';
import type { LimitSize, LimitSizes } from '../rate-limit/limit-key.ts';
import type { Clock } from '../../runtime/clock.ts';
import { holderOf } from './network-interface.ts';
import { interfacePage, maxIds } from './read.ts';
import type { ShownNetworkInterface } from './rpc-api.ts';
import { partsOf } from '../reading/in-parts.ts';
import type { RpcClient } from './rpc-client.ts';

/** The interface is in use as a read shows it, is available again, or neither has come about in time. */
export type AttachmentEnd = ShownInterface | 'fellBack' | 'overdue';

export interface ShownInterface {
  readonly item: ShownNetworkInterface;
  /** When the read was sent, in monotonic ms. */
  readonly startedAt: number;
}

/** Least time between two reads, in ms. */
const minPause = 250;
/** The most of the limit that waits read by: refreshes and listings need the rest. */
const share = 1 / 2;
/** Until the first read of a new interface, in ms: it is usually created by then. */
const creation = 400;
/** Until the first read of an attachment, in ms: none ends earlier. */
const attachment = 2000;
/** An interface is read again when it has waited for this share longer. */
const patience = 1 / 8;
/** A change that takes longer has not ended for anyone who waits, in ms. */
const max = 120_000;
/** Until then a new interface that no read shows may be one that is not visible yet, in ms. */
const unseen = 10_000;

/** Undefined while the interface, or undefined if the read of that time does not show it, has to be read again. */
type Find<Result> = (item: ShownNetworkInterface | undefined, startedAt: number) => Result | undefined;

interface Shown {
  /** When the read was sent, in monotonic ms. */
  readonly startedAt: number;
  readonly items: ReadonlyMap<string, ShownNetworkInterface>;
}

export interface InterfaceWaitsOptions {
  readonly client: RpcClient;
  readonly clock: Clock;
  readonly limits: LimitSizes;
  /** How long after a change a read may still lack it, in ms. */
  readonly consistencyWindow: number;
}

export class InterfaceWaits {
  readonly #options: InterfaceWaitsOptions;
  readonly #pause: number;
  readonly #poller: Poller<Shown>;

  constructor(options: InterfaceWaitsOptions) {
    this.#options = options;
    this.#pause = pauseWithin(options.limits.get('DescribeNetworkInterfaces'));
    this.#poller = new Poller<Shown>({
      clock: options.clock,
      crowd: 0,
      groupPause: this.#pause,
      max,
      minWait: minPause,
      readGroup: (_, read) => this.#read(read),
    });
  }

  /** Resolves once the interface can be attached, is not to be seen, or is overdue. Rejects with the signal's reason. */
  async created(interfaceId: string, context: CallContext): Promise<void> {
    const since = this.#options.clock.monotonic();
    // An interface that no read shows is gone, or not yet visible: an attachment finds out.
    const find: Find<'created'> = (item, startedAt) => {
      if (item === undefined) return startedAt - since >= unseen ? 'created' : undefined;
      return item.status === 'Creating' ? undefined : 'created';
    };
    await this.#until(interfaceId, { find, first: creation }, context);
  }

  /** Resolves once the interface is in use, available again, or overdue. Rejects with the signal's reason. */
  attached(
    { interfaceId, instanceId }: { readonly interfaceId: string; readonly instanceId: string },
    context: CallContext,
  ): Promise<AttachmentEnd> {
    const since = this.#options.clock.monotonic();
    const find: Find<ShownInterface | 'fellBack'> = (item, startedAt) => {
      if (item?.status === 'InUse' && holderOf(item) === instanceId) return { item, startedAt };
      // An earlier read may show what is before the request, also an attachment of then.
      const isCertain = startedAt - since >= this.#options.consistencyWindow;
      return isCertain && item?.status === 'Available' ? 'fellBack' : undefined;
    };
    return this.#until(interfaceId, { find, first: attachment }, context);
  }

  #until<Result>(
    interfaceId: string,
    { find, first }: { readonly find: Find<Result>; readonly first: number },
    { caller, signal }: CallContext,
  ): Promise<Result | 'overdue'> {
    const since = this.#options.clock.monotonic();
    const progress = (shown: Shown | undefined): Progress<Result> => {
      const result = shown && find(shown.items.get(interfaceId), shown.startedAt);
      if (result !== undefined) return { kind: 'ended', result };
      const waited = this.#options.clock.monotonic() - since;
      return { kind: 'pending', retryAfter: Math.max(this.#pause, waited * patience) };
    };
    const alone = { keys: [interfaceId], caller, signal };
    return this.#poller.wait<Result>(
      {
        group: 'interfaces',
        key: interfaceId,
        caller,
        signal,
        poll: async () => progress(await this.#read(alone)),
        find: progress,
      },
      first,
    );
  }

  /** Undefined if that failed: all wait for the next read. */
  async #read({ keys, ...context }: GroupRead): Promise<Shown | undefined> {
    try {
      const pages = await Promise.all(
        partsOf(keys, maxIds).map((networkInterfaceId) => {
          const input = { networkInterfaceId, maxResults: interfacePage };
          return this.#options.client.page('DescribeNetworkInterfaces', input, context);
        }),
      );
      const items = pages.flatMap((page) => page.items);
      return {
        startedAt: Math.min(...pages.map(({ startedAt }) => startedAt)),
        items: new Map(items.map((item) => [item.networkInterfaceId ?? '', item])),
      };
    } catch (error) {
      if (error instanceof CloudError) return undefined;
      throw error;
    }
  }
}

/** For up to 100 interfaces a read. */
function pauseWithin(limit: LimitSize | undefined): number {
  return limit?.kind === 'window' ? Math.max(minPause, limit.ms / (limit.max * share)) : minPause;
}
