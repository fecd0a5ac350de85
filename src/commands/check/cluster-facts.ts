// Reads what the command check needs of the API server. It writes nothing: reviews are answers, and no objects.
import {
  neededAccess,
  type AccessScope,
  type LeaseReference,
  type NeededAccess,
} from '../../kubernetes/access/needed-access.ts';
import { type ReviewedAccess, reviewAccess } from '../../kubernetes/access/access-review.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { readServedSchema, type ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import { ciliumPodIpPoolsPath } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { readIdentity } from '../../kubernetes/object-identity.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { isObject, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { listAll, type ListingOptions } from '../../kubernetes/watch/listing.ts';
import { ofPendingPods } from '../../kubernetes/watch/pending-pods.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Fact, known, mapped, unknown, valueOf } from './fact.ts';
import { type TakenPort, takenPorts } from './port-findings.ts';
import { type ShownPod, shownPod } from './program-findings.ts';
import type { CiliumConfig } from './settings-findings.ts';
import { waitingPod, type WaitingPod } from './untaken-findings.ts';

export interface ReadCluster {
  /** Who asks. */
  readonly user: Fact<string>;
  readonly access: readonly ReviewedAccess[];
  readonly schema: ServedSchema;
  /** Raw. */
  readonly ciliumNodes: Fact<readonly JsonObject[]>;
  readonly nodes: Fact<readonly JsonObject[]>;
}

type Selectors = Pick<ListingOptions<unknown>, 'labelSelector' | 'fieldSelector'>;

/** Time limit of a request, in ms. */
const timeoutMs = 10_000;

export class ClusterReader {
  readonly #transport: KubernetesTransport;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(transport: KubernetesTransport, clock: Clock, signal: AbortSignal) {
    this.#transport = transport;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** The version of the API server, which shows whether it answers. */
  async version(): Promise<Fact<string>> {
    const reply = await ask(this.#transport, { method: 'GET', path: '/version', timeoutMs }, this.#signal);
    // Who may not read the version was answered, too.
    if (reply.kind === 'unavailable') return unknown(reply.message);
    if (reply.kind !== 'ok') return known('');
    return known(sanitizedText(textAt(reply.object, 'gitVersion') ?? ''));
  }

  /** Options of Cilium's agents; unknown also to who may not read them. */
  async ciliumConfig(namespace: string): Promise<Fact<CiliumConfig>> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/cilium-config`;
    const reply = await ask(this.#transport, { method: 'GET', path, timeoutMs }, this.#signal);
    if (reply.kind !== 'ok') return unknown(reply.message);
    const data = valueAt(reply.object, 'data');
    const texts = Object.entries(isObject(data) ? data : {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, sanitizedText(value.trim(), 100)] as const] : [],
    );
    return known(Object.fromEntries(texts));
  }

  async read(lease: LeaseReference | undefined, scope: AccessScope): Promise<ReadCluster> {
    const [user, access, schema, ciliumNodes, nodes] = await Promise.all([
      this.#user(),
      this.#access(neededAccess(lease, scope)),
      readServedSchema(this.#transport, this.#signal),
      this.#list(ciliumNodesPath, { mayLack: 'createsDefinition' in scope && scope.createsDefinition }),
      this.#list('/api/v1/nodes'),
    ]);
    return { user, access, schema, ciliumNodes, nodes };
  }

  /** Those that have one in any namespace. */
  leases(): Promise<Fact<readonly JsonObject[]>> {
    return this.#list('/apis/coordination.k8s.io/v1/leases');
  }

  /** CiliumPodIPPools, whose definition Headwater brings. */
  pools(): Promise<Fact<readonly JsonObject[]>> {
    return this.#list(ciliumPodIpPoolsPath, { mayLack: true });
  }

  /** The pods that carry these labels. */
  async pods(labelSelector: string): Promise<Fact<readonly ShownPod[]>> {
    return mapped(await this.#list('/api/v1/pods', { labelSelector }), shownPod);
  }

  /** The pods that wait for an address. */
  async waitingPods(): Promise<Fact<readonly WaitingPod[]>> {
    const pending = await this.#list('/api/v1/pods', { fieldSelector: ofPendingPods });
    return pending.kind === 'known' ? known(pending.value.flatMap((raw) => waitingPod(raw) ?? [])) : pending;
  }

  /** The ports of their hosts that pods of these nodes take. */
  async takenPorts(nodes: readonly string[]): Promise<Fact<readonly TakenPort[]>> {
    const lists = await Promise.all(
      nodes.map((node) => this.#list('/api/v1/pods', { fieldSelector: `spec.nodeName=${node}` })),
    );
    const unread = lists.find((list) => list.kind === 'unknown');
    return unread ?? known(lists.flatMap((list) => valueOf(list, []).flatMap(takenPorts)));
  }

  /** All at once: each takes a round trip. */
  async #access(needed: readonly NeededAccess[]): Promise<readonly ReviewedAccess[]> {
    const each = needed.map((access) => reviewAccess(this.#transport, [access], this.#signal));
    return (await Promise.all(each)).flat();
  }

  async #user(): Promise<Fact<string>> {
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const request = { method: 'POST', path, contentType: 'application/json', body, timeoutMs } as const;
    const reply = await ask(this.#transport, request, this.#signal);
    const user = reply.kind === 'ok' ? textAt(reply.object, 'status', 'userInfo', 'username') : undefined;
    return user === undefined ? unknown('the API server does not say it') : known(sanitizedText(user));
  }

  /** `mayLack`: without the kind, there is none yet. */
  async #list(
    path: string,
    { mayLack = false, ...selectors }: Selectors & { readonly mayLack?: boolean } = {},
  ): Promise<Fact<readonly JsonObject[]>> {
    const read = (raw: JsonObject): { key: string; resourceVersion: string; object: JsonObject } => {
      const { name, resourceVersion } = readIdentity(raw);
      const key = `${textAt(raw, 'metadata', 'namespace') ?? ''}/${name}`;
      return { key, resourceVersion, object: raw };
    };
    const listing = await listAll(
      { transport: this.#transport, clock: this.#clock, path, ...selectors, read },
      this.#signal,
    );
    if (listing.kind === 'gone' && mayLack) return known([]);
    if (listing.kind !== 'listed') return unknown(listing.message);
    return known([...listing.objects.values()].map(({ object }) => object));
  }
}
