// The command run: the controller against a real API server and a real cloud, until it is told to end.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { hostname } from 'node:os';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { GivenFlags } from '../config/given-text.ts';
import type { Options } from '../config/option-table.ts';
import { processSurroundings } from '../config/process-surroundings.ts';
import { type LiveReading, readLiveOptions } from '../config/read-live-options.ts';
import { composeAws } from '../controller/aws-cloud.ts';
import { Controller } from '../controller/controller.ts';
import { MeteredTransport } from '../controller/metered-transport.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { KubernetesError } from '../kubernetes/kubernetes-error.ts';
import { loadClusterAccess } from '../kubernetes/load-cluster-access.ts';
import { UndiciTransport } from '../kubernetes/undici-transport.ts';
import { type Proxies, proxyFor, proxyInWords } from '../network/proxies.ts';
import { startHttpServer, type Verdict } from '../observability/http-server.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metrics.ts';
import type { AwsApi } from '../providers/aws/aws-api.ts';
import { instanceMetadata, regionOfInstance } from '../providers/aws/instance-metadata.ts';
import { Random } from '../scheduling/random.ts';
import { systemClock as clock } from '../scheduling/system-clock.ts';
import { exitCode } from './exit-code.ts';
import { loadOrRefuse, type Start } from './load-or-refuse.ts';

/** Of a connection to the cloud, in ms. */
const connectionTimeout = 5000;

/** What somebody else has to set right before this can start, and no bug: told in one line. */
class NotStartable extends Error {
  override readonly name = 'NotStartable';
}

export async function run(given: GivenFlags): Promise<number> {
  const err = (text: string): boolean => process.stderr.write(text);
  const start = loadOrRefuse(given, { surroundings: processSurroundings, clock, err });
  if (start.kind === 'refused') return start.exitCode;
  const { options, outbound, log } = start;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info('told to end', { signal });
      stop.abort();
    });
  }
  try {
    return await serve(
      { options, outbound, log },
      // Flags and environment stay as they are.
      options.configDir === undefined ? undefined : () => readLiveOptions(given, processSurroundings),
      stop.signal,
    );
  } catch (error) {
    if (error instanceof NotStartable) err(`headwater run: ${error.message}\n`);
    else log.error('cannot go on', { error });
    return exitCode.failure;
  }
}

type Started = Omit<Extract<Start, { kind: 'go' }>, 'kind'>;

async function serve(
  { options, outbound, log }: Started,
  readLive: (() => LiveReading) | undefined,
  stop: AbortSignal,
): Promise<number> {
  const random = new Random(randomUUID());
  const registry = createMetricRegistry({ measureProcess: true });
  const onBug = (error: unknown): void => log.error('a bug: please report it', { error });
  useNoSharedProxy();
  trust(outbound.extraAuthorities, log);
  const access = await findCluster(options, outbound.proxies);
  const proxy = access.proxy === undefined ? 'none' : proxyInWords(access.proxy);
  log.info('speaking to Kubernetes', { server: access.server.origin, proxy });
  const transport = new UndiciTransport({ access, clock });
  const leaseTransport = new UndiciTransport({ access, clock, connections: 2 });
  const api = await connectToAws({ options, outbound, log }, stop);
  const controller = new Controller({
    options,
    kubernetes: new MeteredTransport(transport, registry.metrics),
    leaseTransport: new MeteredTransport(leaseTransport, registry.metrics),
    composeCloud: (deps) => composeAws(api, deps),
    clock,
    random,
    log,
    registry,
    identity: `${hostname()}-${random.hex(10)}`,
    readLiveOptions: readLive,
    onBug,
  });
  const verdict = (problem: string | undefined): Verdict =>
    problem === undefined ? { ok: true } : { ok: false, problem };
  const started = await startHttpServer({
    listenOn: options.serveAddr,
    clock,
    log,
    health: () => verdict(controller.problem()),
    ready: () => verdict(controller.unreadiness()),
    status: () => controller.status(),
    metrics: registry,
  });
  if (started.kind === 'refused') {
    throw new NotStartable(started.problem);
  }
  log.info('serving health, metrics and status', { ...started.server.address, cluster: access.source });
  try {
    const outcome = await controller.run(stop);
    log.info('ended', { outcome });
    return outcome === 'stopped' ? exitCode.fine : exitCode.failure;
  } finally {
    await Promise.all([started.server.close(), transport.close(), leaseTransport.close()]);
    api.close();
  }
}

/**
 * NODE_USE_ENV_PROXY=1 puts a proxy behind the agent that requests share which bring none. Of ours those are the SDK's
 * to the instance metadata service, whose credentials are no proxy's business.
 */
function useNoSharedProxy(): void {
  http.globalAgent = new http.Agent({ keepAlive: true });
}

/** For the whole process: Node.js builds its store of authorities once, and every client without one of its own uses it. */
function trust(authorities: readonly string[], log: Logger): void {
  if (authorities.length === 0) return;
  setDefaultCACertificates([...getCACertificates('default'), ...authorities]);
  log.info('trusting more certificate authorities', { count: authorities.length });
}

async function findCluster(
  { k8sKubeconfigPath: kubeconfig, k8sApiServer: apiServer }: Options,
  proxies: Proxies,
): Promise<ClusterAccess> {
  try {
    return await loadClusterAccess({
      kubeconfig,
      apiServer,
      environment: processSurroundings.environment,
      clock,
      proxyFor: (server) => proxyFor(server, proxies),
    });
  } catch (error) {
    throw error instanceof KubernetesError ? new NotStartable(error.message, { cause: error }) : error;
  }
}

/** The SDK is loaded here and nowhere else, and only because the cloud is AWS. */
async function connectToAws({ options, outbound, log }: Started, signal: AbortSignal): Promise<AwsApi> {
  const { AwsApi } = await import('../providers/aws/aws-api.ts');
  const connect = (region: string | undefined): AwsApi =>
    new AwsApi({
      region,
      endpoint: options.ec2ApiEndpoint,
      connections: options.parallelAllocWorkers,
      connectionTimeout,
      proxyFor: (target) => proxyFor(target, outbound.proxies),
      onRoute: (host, proxy) =>
        log.info('speaking to AWS', { host, proxy: proxy === undefined ? 'none' : proxyInWords(proxy) }),
    });
  const api = connect(options.awsRegion);
  const region = await api.region();
  if (region !== undefined) {
    log.info('speaking to EC2', { region });
    return api;
  }
  api.close();
  try {
    const own = await regionOfInstance(instanceMetadata, signal);
    log.info('speaking to EC2 in the region of this instance', { region: own });
    return connect(own);
  } catch (cause) {
    const remedy = 'set --aws-region, or AWS_REGION';
    throw new NotStartable(
      `no region is known, and the instance metadata service does not say one: ${remedy}`,
      { cause },
    );
  }
}
