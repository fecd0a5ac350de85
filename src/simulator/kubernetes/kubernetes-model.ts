// The embedded Kubernetes API: one store, its resources, and one handler for every request, with or without a
// socket. Time and randomness are injected, so the same requests at the same instants give the same history.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { noSuchResource, StatusError } from './api-status.ts';
import type { KubernetesHandler, KubernetesRequest, KubernetesResponse } from './exchange.ts';
import { adminPrefix, serveAdmin } from './faults/fault-admin.ts';
import { ConnectionDropped, Faults } from './faults/faults.ts';
import { EventExpiry } from './housekeeping/event-expiry.ts';
import { GarbageCollector } from './housekeeping/garbage-collector.ts';
import type { JsonObject } from './json-value.ts';
import type { KubernetesObject } from './objects/kubernetes-object.ts';
import { builtInTypes } from './resources/built-in-types.ts';
import { customResourceDefinitions } from './resources/custom-resource-definitions.ts';
import type { CustomResourceDefinition } from './resources/custom-resource-definition.ts';
import { ResourceRegistry } from './resources/resource-registry.ts';
import { keyOf, type ResourceType } from './resources/resource-type.ts';
import { type Authorize, authenticate, checkAccess, type Tokens } from './serving/access.ts';
import { nothingThere, refusal, withHeaders } from './serving/answers.ts';
import { EventEncoding } from './serving/event-encoding.ts';
import { checkBodySize } from './serving/read-body.ts';
import { RequestCounts } from './serving/request-counts.ts';
import { type ResourceTarget, verbOf } from './serving/request-target.ts';
import { type RequestUrl, RequestUrls } from './serving/request-urls.ts';
import type { ServerParts } from './serving/resource-call.ts';
import { servePath } from './serving/serve-paths.ts';
import { serveReview } from './serving/serve-reviews.ts';
import { serveResource } from './serving/serve-resource.ts';
import { flagOf } from './reading/list-options.ts';
import type { Change } from './storage/change.ts';
import { ObjectStore } from './storage/object-store.ts';
import { VersionTimes } from './storage/version-times.ts';
import { createObject } from './writing/create-object.ts';

export interface KubernetesModelOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Definitions installed at the start. */
  readonly crds?: readonly CustomResourceDefinition[];
  /** Users by bearer token. Without it, everyone is an administrator. */
  readonly tokens?: Tokens;
  /** Authorizes users; without it, everything is allowed. */
  readonly authorize?: Authorize;
  /** Each resource keeps at least this many recent changes. */
  readonly historyLimit?: number;
  /** A watcher with more unread changes than this is disconnected. */
  readonly watchBacklog?: number;
  /** Whether objects are deleted with their owners and namespace, as with a controller manager. */
  readonly collectGarbage?: boolean;
}

interface Asked extends RequestUrl {
  readonly request: KubernetesRequest;
  readonly isEmptied: boolean;
}

const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const defaultHistoryLimit = 4096;
const defaultWatchBacklog = 10_000;

export class KubernetesModel {
  readonly faults: Faults;
  readonly #requests = new RequestCounts();
  readonly #urls = new RequestUrls();
  readonly #versions: VersionTimes;
  readonly #server: ServerParts;
  readonly #registry = new ResourceRegistry(builtInTypes);
  readonly #expiry: EventExpiry;
  readonly #collector: GarbageCollector | undefined;
  readonly #tokens: Tokens | undefined;
  #authorize: Authorize | undefined;
  #acting: KubernetesRequest | undefined;

  constructor(options: KubernetesModelOptions) {
    const { clock, random } = options;
    const store = new ObjectStore(options.historyLimit ?? defaultHistoryLimit);
    this.#versions = new VersionTimes(store, clock);
    this.faults = new Faults(clock, () => store.forgetHistory());
    this.#server = {
      store,
      clock,
      random: random.fork('objects'),
      watchRandom: random.fork('watches'),
      openWatches: this.faults.openWatches,
      watchBacklog: options.watchBacklog ?? defaultWatchBacklog,
      plainEvents: new EventEncoding(),
    };
    this.#expiry = new EventExpiry(store, clock);
    this.#collector =
      options.collectGarbage === true ? new GarbageCollector(this.#server, this.#registry) : undefined;
    this.#tokens = options.tokens;
    this.#authorize = options.authorize;
    this.#followDefinitions();
    this.#bootstrap(options.crds ?? []);
  }

  /** Replaces the authorizer, from the next request on. */
  set authorize(authorize: Authorize | undefined) {
    this.#authorize = authorize;
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests.total;
  }

  /** Number of open watches. */
  get openWatches(): number {
    return this.#server.openWatches.size;
  }

  /** The request being processed now; undefined otherwise. */
  get acting(): KubernetesRequest | undefined {
    return this.#acting;
  }

  /** Calls `listener` with every change of the collection `<resource>.<group>`, during the write. */
  follow(collection: string, listener: (change: Change) => void): void {
    this.#server.store.listen((name, change) => {
      if (name === collection) listener(change);
    });
  }

  /**
   * Keeps what there is now. The returned function brings it back as an administrator restores etcd: watches end, and no
   * earlier version can be read.
   */
  backUp(): () => void {
    const { store } = this.#server;
    const restore = store.backUp();
    return () => {
      this.faults.closeWatches();
      restore();
      store.forgetHistory();
      this.#collector?.run();
    };
  }

  /** The resource version of the latest write. */
  get revision(): number {
    return this.#server.store.revision;
  }

  /**
   * Answers one request. Rejects with `ConnectionDropped` if a fault breaks the connection, and otherwise
   * only on bugs.
   */
  readonly handle: KubernetesHandler = async (request, signal) => {
    const url = this.#urls.read(request.url);
    if (url.path.startsWith(adminPrefix)) {
      const { faults } = this;
      return serveAdmin(url.path, request, {
        faults,
        requests: this.#requests,
        versions: this.#versions,
      });
    }
    this.#requests.add(request, url.path, url.target);
    const fate = this.faults.fateOfRequest(request.method, request.url);
    if (fate.delay > 0 && !(await this.#waited(fate.delay, signal))) throw new ConnectionDropped();
    if (fate.dropped === 'before') throw new ConnectionDropped();
    if (fate.refusal !== undefined) return refusal(fate.refusal);
    const answer = this.#answer({ request, ...url, isEmptied: fate.isEmptied }, signal);
    if (fate.dropped === 'after') throw new ConnectionDropped();
    return answer;
  };

  /**
   * The current object, frozen; undefined if it does not exist. `resourcePath` is `nodes`,
   * `ciliumnodes.cilium.io`, or with a version `ciliumnodes.v2.cilium.io`.
   */
  get(resourcePath: string, name: string, namespace = ''): KubernetesObject | undefined {
    this.#expiry.run();
    const type = this.#typeAt(resourcePath);
    const stored = this.#server.store.collection(type.collection).get(keyOf(type, namespace, name));
    return stored === undefined ? undefined : type.fromStored(stored);
  }

  /** All objects of a resource, or of one of its namespaces, frozen and ordered by name. */
  list(resourcePath: string, namespace = ''): readonly KubernetesObject[] {
    this.#expiry.run();
    const type = this.#typeAt(resourcePath);
    const objects = [...this.#server.store.collection(type.collection).all()].map(({ object }) =>
      type.fromStored(object),
    );
    return namespace === '' ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
  }

  async #waited(ms: number, signal: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#server.clock, ms, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  #typeAt(resourcePath: string): ResourceType {
    const type = this.#registry.findByPath(resourcePath);
    if (type === undefined) throw new Error(`the model serves no resource "${resourcePath}"`);
    return type;
  }

  #answer(asked: Asked, signal: AbortSignal): KubernetesResponse {
    const warnings: string[] = [];
    this.#expiry.run();
    this.#acting = asked.request;
    try {
      const answer = this.#route(asked, { signal, warn: (text) => warnings.push(text) });
      return withWarnings(answer, warnings);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return withWarnings(refusal(error), warnings);
    } finally {
      this.#collector?.run();
      this.#acting = undefined;
    }
  }

  #route(
    { request, path, query, target, isEmptied }: Asked,
    context: { readonly signal: AbortSignal; readonly warn: (text: string) => void },
  ): KubernetesResponse {
    const user = authenticate(this.#tokens, request.headers['authorization']);
    const review = serveReview(path, request, { user, authorize: this.#authorize });
    if (review !== undefined) return review;
    if (target === undefined) return servePath(path, request, this.#registry.all());
    const watch = flagOf(query, 'watch') ?? false;
    checkAccess(this.#authorize, user, target, verbOf(request.method, target.name, watch));
    const type = this.#registry.find(target.group, target.version, target.resource);
    if (type === undefined) return this.#unknownResource(target);
    if (request.value === undefined) checkBodySize(request.body ?? '');
    return serveResource({ request, query, type, target, isEmptied, server: this.#server, ...context });
  }

  #unknownResource({ group, version }: ResourceTarget): KubernetesResponse {
    if (group === '' || this.#registry.isBuiltIn(group, version)) throw noSuchResource();
    return nothingThere();
  }

  #followDefinitions(): void {
    this.#server.store.collection(customResourceDefinitions.collection).follow(undefined, (change) => {
      if (change.kind === 'DELETED') this.#registry.remove(change.key);
      else this.#registry.install(change.object as JsonObject as unknown as CustomResourceDefinition);
    });
  }

  /** Creates what a real cluster starts with, and drops those versions from the history as a real one does. */
  #bootstrap(crds: readonly CustomResourceDefinition[]): void {
    for (const name of systemNamespaces)
      this.#create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const crd of crds)
      this.#create('customresourcedefinitions.apiextensions.k8s.io', crd as unknown as KubernetesObject);
    this.#server.store.forgetHistory();
  }

  #create(resourcePath: string, object: KubernetesObject): void {
    const type = this.#typeAt(resourcePath);
    const { object: decoded } = type.decode(object);
    createObject(this.#server, { type, namespace: '' }, decoded, {
      dryRun: false,
      warn: () => undefined,
      writer: { manager: 'kube-apiserver', subresource: '' },
    });
  }
}

function withWarnings(answer: KubernetesResponse, warnings: readonly string[]): KubernetesResponse {
  if (warnings.length === 0) return answer;
  const warning = [...new Set(warnings)].map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
  return withHeaders(answer, { warning });
}
