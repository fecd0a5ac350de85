// A real kube-apiserver on a real etcd, both of our own, with the CiliumNode definition and the roles of the chart. Neither
// outlives the process that started it.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RigChild } from '../../../rig/child-process.ts';
import { type Endpoint, handlerFor } from '../../../rig/http.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../src/simulator/workload/kubernetes-client.ts';
import { callKubernetes, type Method } from '../../support/kubernetes-call.ts';
import { Etcd } from './etcd.ts';
import { freePorts } from './free-ports.ts';
import { type ApiServerFiles, prepareApiServer, startApiServer } from './kube-api-server.ts';
import {
  createRoles,
  createServiceAccount,
  installNamespace,
  kubeConfigText,
  tokenOf,
} from './service-accounts.ts';
import { shippedRoles } from './shipped-roles.ts';

export interface RealApiOptions {
  readonly clock: Clock;
  /** Flags of the API server in addition to the usual ones. */
  readonly flags?: readonly string[];
  /** Not even the roles of the chart exist. */
  readonly withoutRoles?: boolean;
}

export interface RealApi {
  /** `https://127.0.0.1:6443`. */
  readonly url: string;
  /** Path of the certificate of its authority, as PEM. */
  readonly caFile: string;
  /** Token of an administrator. */
  readonly adminToken: string;
  /** Token of the user `reader`, who has no rights. */
  readonly readerToken: string;
  /** The API server for an administrator. */
  readonly endpoint: Endpoint;
  /** The same for the client of the embedded agents. */
  readonly handler: KubernetesHandler;
  /**
   * Path of a kubeconfig for the service account in kube-system, bound to the roles of the chart; creates the account if
   * it does not exist. `url`: of a server in front of this one.
   */
  kubeconfigFor(serviceAccount: string, url?: string): Promise<string>;
  /** Path of a kubeconfig for an existing service account, with its rights. */
  kubeconfigOf(serviceAccount: string, url?: string): Promise<string>;
  /** Path of a kubeconfig for an administrator. */
  kubeconfigOfAdmin(): Promise<string>;
  /** One request as an administrator; rejects if it is refused. */
  readonly call: (method: Method, path: string, body?: JsonObject) => Promise<JsonObject>;
  /** Ends the API server as its operating system would; `start` starts it again. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
  /** Restarts it. Resolves once it serves again. */
  restart(): Promise<void>;
  pauseEtcd(): void;
  continueEtcd(): void;
  /** Makes etcd compact everything before now. */
  readonly compactEtcd: () => Promise<void>;
  /** The version of etcd: `3.4.23`. */
  etcdVersion(): Promise<string>;
  stop(): Promise<void>;
}

/** How long the API server may take to start and to end, in ms: a bound for hangs, not a measurement. */
const patience = { start: 120_000, stop: 1000 };
/** Between two checks, in ms. */
const lookInterval = 100;

/** Resolves once everything is installed and ready. HEADWATER_KUBE_APISERVER names the program. */
export async function startRealApi(options: RealApiOptions): Promise<RealApi> {
  const program = process.env['HEADWATER_KUBE_APISERVER'];
  if (program === undefined) throw new Error('no kube-apiserver: run these tests by npm run test:e2e');
  const directory = await mkdtemp(join(tmpdir(), 'real-api-'));
  const [clientPort = 0, peerPort = 0, port = 0] = await freePorts(3);
  const etcdDirectory = join(directory, 'etcd');
  await mkdir(etcdDirectory, { mode: 0o700 });
  const etcd = new Etcd({ directory: etcdDirectory, clientPort, peerPort });
  const adminToken = randomBytes(16).toString('hex');
  const readerToken = randomBytes(16).toString('hex');
  const files = await prepareApiServer({
    directory,
    port,
    etcdUrl: etcd.url,
    users: [
      { name: 'admin', token: adminToken, group: 'system:masters' },
      { name: 'reader', token: readerToken, group: 'readers' },
    ],
    flags: options.flags ?? [],
  });
  const api = new RunningApi({ ...options, program, directory, etcd, files, port, adminToken, readerToken });
  try {
    await api.startServer();
    await api.install();
  } catch (error) {
    await api.stop();
    throw error;
  }
  return api;
}

interface Parts extends RealApiOptions {
  readonly program: string;
  readonly directory: string;
  readonly etcd: Etcd;
  readonly files: ApiServerFiles;
  readonly port: number;
  readonly adminToken: string;
  readonly readerToken: string;
}

class RunningApi implements RealApi {
  readonly url: string;
  readonly caFile: string;
  readonly adminToken: string;
  readonly readerToken: string;
  readonly endpoint: Endpoint;
  readonly handler: KubernetesHandler;
  readonly #parts: Parts;
  readonly #client: KubernetesClient;
  readonly #accounts = new Set<string>();
  readonly #stopping = new AbortController();
  #server: RigChild | undefined;

  constructor(parts: Parts) {
    const { files, port, adminToken, readerToken } = parts;
    this.#parts = parts;
    this.url = `https://127.0.0.1:${port}`;
    this.caFile = files.caFile;
    this.adminToken = adminToken;
    this.readerToken = readerToken;
    this.endpoint = { url: this.url, ca: files.ca, token: adminToken };
    this.handler = handlerFor(this.endpoint);
    this.#client = new KubernetesClient(this.handler, 'headwater-e2e');
  }

  readonly call: RealApi['call'] = (method, path, body = {}) =>
    callKubernetes(this.#client, { method, path, body });

  async kubeconfigFor(serviceAccount: string, url = this.url): Promise<string> {
    const { call } = this;
    if (!this.#accounts.has(serviceAccount)) {
      this.#accounts.add(serviceAccount);
      await createServiceAccount(call, serviceAccount, await shippedRoles());
    }
    return this.kubeconfigOf(serviceAccount, url);
  }

  async kubeconfigOf(serviceAccount: string, url = this.url): Promise<string> {
    const { call } = this;
    const token = await tokenOf(call, serviceAccount);
    const path = join(
      this.#parts.directory,
      `${serviceAccount}-${randomBytes(4).toString('hex')}.kubeconfig`,
    );
    await writeFile(path, kubeConfigText({ url, ca: this.#parts.files.ca, token }), { mode: 0o600 });
    return path;
  }

  async kubeconfigOfAdmin(): Promise<string> {
    const path = join(this.#parts.directory, `admin-${randomBytes(4).toString('hex')}.kubeconfig`);
    const text = kubeConfigText({ url: this.url, ca: this.#parts.files.ca, token: this.adminToken });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  async install(): Promise<void> {
    await this.#until('the namespaces are there', async () => {
      await this.call('GET', `/api/v1/namespaces/${installNamespace}`);
      await this.call('GET', '/api/v1/namespaces/default');
      return true;
    });
    const definition: unknown = ciliumNodeCrd;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await this.call('POST', definitions, definition as JsonObject);
    await this.#until('CiliumNodes are served', async () => {
      const found = await this.call('GET', `${definitions}/${ciliumNodeCrd.metadata.name}`);
      return listAt(found, 'status', 'conditions').some(
        (each) => textAt(each, 'type') === 'Established' && textAt(each, 'status') === 'True',
      );
    });
    await this.#until('CiliumNodes can be listed', async () => {
      await this.call('GET', '/apis/cilium.io/v2/ciliumnodes');
      return true;
    });
    if (this.#parts.withoutRoles !== true) await createRoles(this.call, await shippedRoles());
  }

  async startServer(): Promise<void> {
    const server = startApiServer(this.#parts.program, this.#parts.files);
    this.#server = server;
    const failed = Promise.race([server.failure(), this.#parts.etcd.child.failure()]);
    failed.catch(() => undefined);
    const ready = this.#until('the API server is ready', async () => {
      const { status } = await this.handler(
        { method: 'GET', url: '/readyz', headers: {} },
        this.#stopping.signal,
      );
      return status === 200;
    });
    await Promise.race([ready, failed]);
  }

  async stopServer(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const { clock } = this.#parts;
    // Open watches would delay the end by a minute.
    const cancel = clock.schedule(patience.stop, () => void server.kill());
    await server.stop();
    cancel();
  }

  async restart(): Promise<void> {
    await this.stopServer();
    await this.startServer();
  }

  pauseEtcd(): void {
    this.#parts.etcd.child.pause();
  }

  continueEtcd(): void {
    this.#parts.etcd.child.goOn();
  }

  readonly compactEtcd = (): Promise<void> => this.#parts.etcd.compact(this.#stopping.signal);

  etcdVersion(): Promise<string> {
    return this.#parts.etcd.version(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the API server is stopped'));
    await this.#server?.kill();
    await this.#parts.etcd.child.kill();
    await rm(this.#parts.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A refusal, or no answer, means: not yet. */
  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#parts;
    const end = clock.monotonic() + patience.start;
    const { signal } = this.#stopping;
    let trouble: unknown;
    const look = async (): Promise<boolean> => {
      try {
        return await isSo();
      } catch (error) {
        signal.throwIfAborted();
        trouble = error;
        return false;
      }
    };
    while (!(await look())) {
      if (clock.monotonic() >= end) {
        const said = this.#server?.lastWords ?? '';
        throw new Error(`it did not come about that ${what}: ${String(trouble)}\n${said}`);
      }
      await sleep(clock, lookInterval, signal);
    }
  }
}
