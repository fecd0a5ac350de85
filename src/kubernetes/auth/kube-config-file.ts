// Finds the configuration that leads to the cluster and reads its files. kube-config.ts interprets them.
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { isObject, type JsonObject } from '../../runtime/json.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';

export interface KubeConfigPlaces {
  /** An explicit path; it excludes every other source. */
  readonly kubeconfig?: string | undefined;
  /** An explicit API server; it suffices when no configuration is found. */
  readonly apiServer?: string | undefined;
  /** Our process environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where pods find their service account. */
  readonly serviceAccountDirectory: string;
}

export type FoundConfig =
  /** One or more kubeconfigs; the first one wins where they overlap. */
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
  /** Base of relative paths in the file. */
  readonly directory: string;
  readonly content: JsonObject;
}

/**
 * Searches in this order: the explicit path, the pod's service account, the files of KUBECONFIG, ~/.kube/config, the
 * explicit server. Rejects with KUBECONFIG_NOT_FOUND or KUBECONFIG_INVALID.
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
    `found no cluster: there is no service account in ${places.serviceAccountDirectory} and no kubeconfig at ${paths.join(' or ') || '~/.kube/config (HOME is not set)'}. Run in a pod with a service account, or give --k8s-kubeconfig-path, KUBECONFIG or --k8s-api-server`,
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
  } catch (error) {
    // The parser's message quotes the line, which may hold a token.
    throw new KubernetesError('KUBECONFIG_INVALID', `${path} is not YAML${placeOf(error)}`, {
      details: { path },
    });
  }
  if (isObject(content)) return { path, directory: dirname(path), content };
  throw new KubernetesError('KUBECONFIG_INVALID', `${path} is no kubeconfig`, { details: { path } });
}

/** The position of a parse error, without the text there. */
function placeOf(error: unknown): string {
  const [start] = error instanceof YAMLParseError ? (error.linePos ?? []) : [];
  return start === undefined ? '' : `: line ${start.line}, column ${start.col}`;
}

/** Undefined when the file does not exist; every other failure is an error. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const remedy =
      code === 'EACCES' ? '; make it readable for the user that Headwater runs as (65532 in its image)' : '';
    throw new KubernetesError('KUBECONFIG_INVALID', `cannot read ${path}: ${String(code)}${remedy}`, {
      details: { path },
      cause,
    });
  }
}
