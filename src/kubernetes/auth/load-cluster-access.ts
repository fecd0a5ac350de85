// Resolves how to reach the cluster: by kubeconfig, service account or bare address.
import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { urlInWords } from '../../network/untrusted-text.ts';
import type { ClusterAccess } from '../transport/cluster-access.ts';
import { type KubeContext, readCurrentContext } from './kube-config.ts';
import { type FoundConfig, findKubeConfig, type KubeConfigPlaces } from './kube-config-file.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';
import { UserCredentials, type UserOptions } from './user-credentials.ts';

export interface ClusterAccessOptions extends Omit<KubeConfigPlaces, 'serviceAccountDirectory'> {
  readonly clock: Clock;
  /** Where pods find their service account. Default: the standard path. */
  readonly serviceAccountDirectory?: string;
  /** The proxy that the environment sets for a server. A kubeconfig's proxy takes precedence, as in client-go. */
  readonly proxyFor?: (server: URL) => URL | undefined;
}

const usualServiceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

interface Way extends Omit<KubeContext, 'name'> {
  readonly source: string;
}

/**
 * Resolves the cluster access. Rejects with KUBECONFIG_NOT_FOUND or KUBECONFIG_INVALID; the message says what to do.
 */
export async function loadClusterAccess(options: ClusterAccessOptions): Promise<ClusterAccess> {
  const { apiServer, clock, serviceAccountDirectory = usualServiceAccount } = options;
  const way = wayOf(await findKubeConfig({ ...options, serviceAccountDirectory }), options);
  const credentials = new UserCredentials({ ...way.user, clock });
  const server = urlOf(apiServer || way.server, 'API server');
  const unverified = whyUnverified(server, way.user);
  return {
    server,
    ...(unverified !== undefined && { unverified }),
    source: way.source,
    namespace: way.namespace,
    proxy: way.proxy ? urlOf(way.proxy, 'proxy') : options.proxyFor?.(server),
    credentials: () => credentials.current(),
    forget: (refused) => credentials.forget(refused),
  };
}

function wayOf(found: FoundConfig, options: ClusterAccessOptions): Way {
  switch (found.kind) {
    case 'files': {
      const { name, ...context } = readCurrentContext(found.files, options);
      return { ...context, source: `context ${name} of ${found.files.map(({ path }) => path).join(', ')}` };
    }
    case 'pod':
      return {
        source: `the service account in ${found.directory}`,
        server: found.server,
        namespace: found.namespace,
        proxy: undefined,
        user: {
          ...none,
          ca: { kind: 'file', path: join(found.directory, 'ca.crt') },
          identity: { kind: 'tokenFile', path: join(found.directory, 'token') },
        },
      };
    case 'server':
      return {
        source: 'the address given, without credentials',
        server: found.server,
        namespace: undefined,
        proxy: undefined,
        user: none,
      };
  }
}

function whyUnverified({ protocol }: URL, { insecure }: Pick<UserOptions, 'insecure'>): string | undefined {
  if (protocol === 'http:') return 'its address begins with http://';
  return insecure ? 'the kubeconfig sets insecure-skip-tls-verify' : undefined;
}

const none: Omit<UserOptions, 'clock'> = {
  identity: { kind: 'anonymous' },
  ca: { kind: 'none' },
  cert: { kind: 'none' },
  key: { kind: 'none' },
  serverName: undefined,
  insecure: false,
  impersonation: {},
};

function urlOf(text: string, what: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  const shown = urlInWords(text);
  throw new KubernetesError(
    'KUBECONFIG_INVALID',
    `the address of the ${what}${shown === undefined ? '' : ` is ${JSON.stringify(shown)}; it`} must begin with https:// or http://`,
  );
}
