// Finds out where the way to a cluster is written down, and reads it. What a kubeconfig means is kube-config.ts's.
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type JsonObject } from './json.ts';
import { KubernetesError } from './kubernetes-error.ts';

export interface KubeConfigPlaces {
  /** A path that somebody gave; then no other place counts. */
  readonly kubeconfig?: string | undefined;
  /** The API server that somebody gave: enough by itself when nothing else is found. */
  readonly apiServer?: string | undefined;
  /** Of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where pods find their service account. */
  readonly serviceAccountDirectory: string;
}

export type FoundConfig =
  /** One or several kubeconfigs; of what is in several, the first counts. */
  | { readonly kind: 'files'; readonly files: readonly KubeConfigFile[] }
  | {
      readonly kind: 'pod';
      readonly server: string;
      readonly directory: string;
      readonly namespace: string | undefined;
    }
  | { readonly kind: 'server'; readonly server: string };

export interface KubeConfigFile {
  readonly path: string;
  /** Paths within it are meant from here. */
  readonly directory: string;
  readonly content: JsonObject;
}

/**
 * In this order: the path given; the pod's service account; the files of KUBECONFIG; ~/.kube/config; the server given.
 * Rejects with KUBECONFIG_NOT_FOUND or KUBECONFIG_INVALID.
 */
export async function findKubeConfig(places: KubeConfigPlaces): Promise<FoundConfig> {
  const { kubeconfig, apiServer, environment } = places;
  if (kubeconfig !== undefined && kubeconfig !== '')
    return { kind: 'files', files: [await readGiven(kubeconfig)] };
  const pod = await findPod(places);
  if (pod !== undefined) return pod;
  const paths = usualPaths(environment);
  const files = (await Promise.all(paths.map((path) => readIfThere(path)))).filter(
    (file) => file !== undefined,
  );
  if (files.length > 0) return { kind: 'files', files };
  if (apiServer !== undefined && apiServer !== '') return { kind: 'server', server: apiServer };
  throw new KubernetesError(
    'KUBECONFIG_NOT_FOUND',
    `found no way to a cluster: there is no service account in ${places.serviceAccountDirectory} and no kubeconfig at ${paths.join(' or ') || '~/.kube/config (HOME is not set)'}. Run in a pod with a service account, or give --k8s-kubeconfig-path, KUBECONFIG or --k8s-api-server`,
  );
}

async function findPod({
  environment,
  serviceAccountDirectory,
}: KubeConfigPlaces): Promise<FoundConfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) return undefined;
  if ((await contentOf(join(serviceAccountDirectory, 'token'))) === undefined) return undefined;
  const namespace = await contentOf(join(serviceAccountDirectory, 'namespace'));
  return {
    kind: 'pod',
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    directory: serviceAccountDirectory,
    namespace: namespace?.trim() || undefined,
  };
}

function usualPaths({ KUBECONFIG, HOME }: Readonly<Record<string, string | undefined>>): readonly string[] {
  const listed = (KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return listed;
  return HOME ? [join(HOME, '.kube', 'config')] : [];
}

async function readGiven(path: string): Promise<KubeConfigFile> {
  const file = await readIfThere(path);
  if (file !== undefined) return file;
  throw new KubernetesError(
    'KUBECONFIG_NOT_FOUND',
    `there is no kubeconfig at ${path}; correct --k8s-kubeconfig-path`,
    {
      details: { path },
    },
  );
}

async function readIfThere(path: string): Promise<KubeConfigFile | undefined> {
  const text = await contentOf(path);
  if (text === undefined) return undefined;
  let content: unknown;
  try {
    content = parse(text) as unknown;
  } catch (cause) {
    throw new KubernetesError('KUBECONFIG_INVALID', `${path} is not YAML: ${String(cause)}`, {
      details: { path },
      cause,
    });
  }
  if (isObject(content)) return { path, directory: dirname(path), content };
  throw new KubernetesError('KUBECONFIG_INVALID', `${path} is no kubeconfig`, { details: { path } });
}

/** Undefined when there is no such file; every other reason not to read it is an error. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new KubernetesError('KUBECONFIG_INVALID', `cannot read ${path}: ${String(code)}`, {
      details: { path },
      cause,
    });
  }
}
