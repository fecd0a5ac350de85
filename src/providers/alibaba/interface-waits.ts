// Waits until interfaces are created and attached. The cloud accepts both at once and goes on for seconds, and only a later
// read shows the end. All that wait share one read of up to 100 interfaces every two seconds.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import type { Priority } from '../contract/priority.ts';
import { Poller, type Progress } from '../pending/poller.ts';
import type { Clock } from '../../runtime/clock.ts';
import { holderOf } from './network-interface.ts';
import { interfacePage, mostIds } from './read.ts';
import type { ShownNetworkInterface } from './rpc-api.ts';
import { listed, type RpcClient } from './rpc-client.ts';

/** The interface is in use, available again, or has neither ended. */
export type AttachmentEnd = 'attached' | 'fellBack' | 'overdue';

/** Between two reads, in ms. */
const pause = 2000;
/** Until the first read of a new interface, in ms: it is usually created by then. */
const creation = 1000;
/** What takes longer has not ended for anyone who waits, in ms. */
const longest = 120_000;
/** Until then a read may show the interface as it was before, in ms. */
const lag = 10_000;

/** An interface, or undefined if the read does not show it. */
type Find<Result> = (item: ShownNetworkInterface | undefined) => Result | undefined;

type Shown = ReadonlyMap<string, ShownNetworkInterface>;

export class InterfaceWaits {
  readonly #client: RpcClient;
  readonly #clock: Clock;
  /** Ids of interfaces, with the number of those who wait. */
  readonly #awaited = new Map<string, number>();
  readonly #poller: Poller<Shown>;

  constructor(client: RpcClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#poller = new Poller<Shown>({
      clock,
      crowd: 0,
      groupPause: pause,
      longest,
      readGroup: (_, context) => this.#read([...this.#awaited.keys()], context),
    });
  }

  /** Resolves once the interface can be attached, is not to be seen, or is overdue. Rejects with the signal's reason. */
  async created(interfaceId: string, context: CallContext): Promise<void> {
    const since = this.#clock.monotonic();
    // What no read shows is gone, or not yet visible: an attachment finds out.
    const find: Find<'created'> = (item) => {
      if (item === undefined) return this.#clock.monotonic() - since >= lag ? 'created' : undefined;
      return item.status === 'Creating' ? undefined : 'created';
    };
    await this.#until(interfaceId, { find, first: creation }, context);
  }

  /** Resolves once the interface is in use, available again, or overdue. Rejects with the signal's reason. */
  attached(
    { interfaceId, instanceId }: { readonly interfaceId: string; readonly instanceId: string },
    context: CallContext,
  ): Promise<AttachmentEnd> {
    const since = this.#clock.monotonic();
    let isSeen = false;
    const find: Find<'attached' | 'fellBack'> = (item) => {
      if (item?.status === 'InUse' && holderOf(item) === instanceId) return 'attached';
      isSeen ||= item?.status === 'Attaching';
      const isSettled = isSeen || this.#clock.monotonic() - since >= lag;
      return isSettled && item?.status === 'Available' ? 'fellBack' : undefined;
    };
    return this.#until(interfaceId, { find, first: pause }, context);
  }

  async #until<Result extends string>(
    interfaceId: string,
    { find, first }: { readonly find: Find<Result>; readonly first: number },
    { priority, signal }: CallContext,
  ): Promise<Result | 'overdue'> {
    const progress = (shown: Shown): Progress<Result> => {
      const result = find(shown.get(interfaceId));
      return result === undefined ? { kind: 'pending', retryAfter: pause } : { kind: 'ended', result };
    };
    this.#awaited.set(interfaceId, (this.#awaited.get(interfaceId) ?? 0) + 1);
    try {
      return await this.#poller.wait<Result>(
        {
          group: 'interfaces',
          priority,
          signal,
          poll: async () => {
            const shown = await this.#read([interfaceId], { priority, signal });
            return shown === undefined ? { kind: 'pending', retryAfter: pause } : progress(shown);
          },
          find: progress,
        },
        first,
      );
    } finally {
      this.#leave(interfaceId);
    }
  }

  #leave(interfaceId: string): void {
    const others = (this.#awaited.get(interfaceId) ?? 1) - 1;
    if (others > 0) this.#awaited.set(interfaceId, others);
    else this.#awaited.delete(interfaceId);
  }

  /** Undefined if that failed: all wait for the next read. */
  async #read(
    ids: readonly string[],
    context: { readonly priority: () => Priority; readonly signal: AbortSignal },
  ): Promise<Shown | undefined> {
    const parts = Array.from({ length: Math.ceil(ids.length / mostIds) }, (_, at) =>
      ids.slice(at * mostIds, (at + 1) * mostIds),
    );
    try {
      const pages = await Promise.all(
        parts.map(async (networkInterfaceId) => {
          const input = { networkInterfaceId, maxResults: interfacePage };
          const { output } = await this.#client.read('DescribeNetworkInterfaces', input, context);
          return listed('DescribeNetworkInterfaces', output.networkInterfaceSets?.networkInterfaceSet);
        }),
      );
      return new Map(pages.flat().map((shown) => [shown.networkInterfaceId ?? '', shown]));
    } catch (error) {
      if (error instanceof CloudError) return undefined;
      throw error;
    }
  }
}
