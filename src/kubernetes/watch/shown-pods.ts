// Reads what the pods of one node show, live. The watch of pods sees only those that are pending: one of all pods of a large
// cluster would cost memory and requests at all times, for what is asked of few nodes now and then.
import type { Clock } from '../../runtime/clock.ts';
import { type ApiRefusal, ask } from '../transport/api-reply.ts';
import { type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import { itemsOf, listAll } from './listing.ts';
import type { Read } from './object-store.ts';
import { addressesOf } from './pending-pods.ts';

/** Which pod shows an address. */
export interface ShownPod {
  readonly address: string;
  /** `namespace/name`. */
  readonly pod: string;
}

export interface ShownPodOfNode extends ShownPod {
  readonly node: string;
}

export type PodReading<Pod = ShownPod> =
  | { readonly kind: 'read'; readonly shown: readonly Pod[] }
  | UnreadablePods;

export interface UnreadablePods {
  readonly kind: 'unreadable';
  /** Says what to do. */
  readonly problem: string;
  /** Until an administrator grants a permission. */
  readonly isDenied: boolean;
}

export type PodReads = Pick<ShownPods, 'on'>;

/** Time limit of a list, in ms. A release can wait, and an old API server may read the pods of all nodes for it. */
const listTime = 30_000;
/** For how long a denial holds for every node, in ms. */
const deniedFor = 60_000;

export class ShownPods {
  readonly #transport: KubernetesTransport;
  readonly #clock: Clock;
  #denial: { readonly reading: UnreadablePods; readonly until: number } | undefined;

  constructor(transport: KubernetesTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** Reads the addresses that pods of the node show, without pods that have ended. Rejects only with the signal's reason. */
  async on(node: string, signal: AbortSignal): Promise<PodReading> {
    if (this.#denial !== undefined && this.#clock.monotonic() < this.#denial.until)
      return this.#denial.reading;
    const reply = await ask(
      this.#transport,
      { method: 'GET', path: pathOf(node), timeoutMs: listTime },
      signal,
    );
    this.#denial = undefined;
    if (reply.kind === 'ok') return readList(reply.object);
    const reading = unreadable(reply);
    if (reading.isDenied) this.#denial = { reading, until: this.#clock.monotonic() + deniedFor };
    return reading;
  }

  /** The same of all nodes. Keeps only addresses that `isWanted` accepts. */
  async everywhere(
    isWanted: (each: ShownPodOfNode) => boolean,
    signal: AbortSignal,
  ): Promise<PodReading<ShownPodOfNode>> {
    const options = { transport: this.#transport, clock: this.#clock, path: podsPath, listKind };
    const read = (pod: JsonObject): Read<readonly ShownPodOfNode[]> | undefined => {
      const node = textAt(pod, 'spec', 'nodeName') ?? '';
      const object = shownBy(pod)
        .map((each) => ({ ...each, node }))
        .filter(isWanted);
      const key = object[0]?.pod;
      return key === undefined ? undefined : { key, resourceVersion: '', object };
    };
    const listing = await listAll({ ...options, read }, signal);
    if (listing.kind !== 'listed') return unreadable(listing);
    return { kind: 'read', shown: [...listing.objects.values()].flatMap(({ object }) => object) };
  }
}

const podsPath = '/api/v1/pods';
const listKind = 'PodList';

function unreadable(refusal: ApiRefusal): UnreadablePods {
  // Credentials that are not accepted are no matter of a grant, and everything else fails with them.
  const isDenied = refusal.kind === 'denied' && refusal.status !== 401;
  return isDenied ? { kind: 'unreadable', problem: toGrant(refusal), isDenied } : failing(refusal.message);
}

function toGrant({ message }: ApiRefusal): string {
  return `${message}. Grant Headwater the verb list on pods, or, if the word of the agents is enough, set release-pod-check to false`;
}

function failing(why: string): UnreadablePods {
  const problem = `${why}. Headwater asks again: see whether the API server, or a proxy before it, has trouble`;
  return { kind: 'unreadable', problem, isDenied: false };
}

/**
 * A consistent read: without a resource version. With `resourceVersion=0`, an API server that is cut off from etcd would answer
 * from its cache, however old, and an address would be taken from a pod that is newer. The price: servers from 1.31 ask etcd for
 * its revision alone and then answer from their cache, which has an index by node; older ones read the pods of all nodes in etcd.
 * That is paid once or twice for a release, by nodes that release, and by no others.
 */
function pathOf(node: string): string {
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}` });
  return `${podsPath}?${query.toString()}`;
}

/** Only a whole list is evidence that a pod is gone. */
function readList(list: JsonObject): PodReading {
  const items = itemsOf(list);
  const isOfPods = textAt(list, 'kind') === listKind && textAt(list, 'apiVersion') === 'v1';
  if (!isOfPods || items === undefined)
    return failing('the API server answered with what is no list of pods');
  if (textAt(list, 'metadata', 'continue')) return failing('the API server answered with a part of the list');
  return { kind: 'read', shown: items.flatMap(shownBy) };
}

/**
 * The addresses that a pod shows. Pods of the host network are left out, because they show addresses of the host. A pod
 * that is being deleted keeps its addresses until it has ended.
 */
function shownBy(pod: JsonObject): readonly ShownPod[] {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed' || valueAt(pod, 'spec', 'hostNetwork') === true) return [];
  const name = `${textAt(pod, 'metadata', 'namespace') ?? ''}/${textAt(pod, 'metadata', 'name') ?? ''}`;
  return addressesOf(pod).map((address) => ({ address, pod: name }));
}

/** Pods that one text names. */
const maxNamed = 5;

/** `pod default/web has 10.0.0.1`, for a message. */
export function namedPods(shown: readonly ShownPod[]): string {
  const texts = shown.slice(0, maxNamed).map(({ pod, address }) => `pod ${pod} has ${address}`);
  return [...texts, ...(shown.length > maxNamed ? ['others'] : [])].join(', ');
}
