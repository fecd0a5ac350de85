// Interprets a kubeconfig. Only this file imports @kubernetes/client-node: its reader of kubeconfig entries and, for
// users that need it, its OpenID Connect client. Neither import may load the generated API, which costs 80 MB of
// memory.
import { isAbsolute, join } from 'node:path';
import {
  type Cluster,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import type { OpenIDConnectAuth } from '@kubernetes/client-node/dist/oidc_auth.js';
import type { Clock } from '../../runtime/clock.ts';
import { ExecCredentialSource, execSpecSchema } from './exec-credential-source.ts';
import { isList, type JsonObject, listAt, memberOf, textAt } from '../../runtime/json.ts';
import type { KubeConfigFile } from './kube-config-file.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';
import type { Identity, PemSource, UserOptions } from './user-credentials.ts';

/** The current context of a kubeconfig. */
export interface KubeContext {
  readonly name: string;
  /** URLs. */
  readonly server: string;
  readonly proxy: string | undefined;
  readonly namespace: string | undefined;
  readonly user: Omit<UserOptions, 'clock'>;
}

export interface KubeConfigOptions {
  readonly clock: Clock;
  /** Our process environment, for credential plugins. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An entry of a kubeconfig list, and the base of its relative paths. */
interface Entry {
  readonly raw: JsonObject;
  readonly directory: string;
  /** For messages. */
  readonly where: string;
}

/** Throws KUBECONFIG_INVALID with the place and the reason. */
export function readCurrentContext(
  files: readonly KubeConfigFile[],
  options: KubeConfigOptions,
): KubeContext {
  const name = files.map(({ content }) => textAt(content, 'current-context')).find((text) => text);
  const where = files.map(({ path }) => path).join(', ');
  if (name === undefined)
    throw invalid(`${where}: no current-context; choose one with kubectl config use-context`);
  const context = readWith(newContexts, entryOf(files, 'contexts', name));
  const clusterEntry = entryOf(files, 'clusters', context.cluster);
  const cluster = readWith(newClusters, clusterEntry);
  if (cluster.skipTLSVerify && (cluster.caData || cluster.caFile))
    throw invalid(
      `${clusterEntry.where}: it has a certificate authority and insecure-skip-tls-verify, which ignores it: remove insecure-skip-tls-verify`,
    );
  const userEntry = context.user ? entryOf(files, 'users', context.user) : undefined;
  return {
    name,
    server: cluster.server,
    proxy: cluster.proxyUrl,
    namespace: context.namespace,
    user: {
      ca: pem(cluster.caData, cluster.caFile, clusterEntry),
      serverName: cluster.tlsServerName,
      insecure: cluster.skipTLSVerify,
      ...(userEntry === undefined ? anonymous : readUser(userEntry, cluster, options)),
    },
  };
}

type UserPart = Pick<UserOptions, 'identity' | 'cert' | 'key' | 'impersonation'>;

const anonymous: UserPart = {
  identity: { kind: 'anonymous' },
  cert: { kind: 'none' },
  key: { kind: 'none' },
  impersonation: {},
};

function readUser(entry: Entry, cluster: Cluster, options: KubeConfigOptions): UserPart {
  const user = readWith(newUsers, entry);
  return {
    identity: identityOf(user, entry, cluster, options),
    cert: pem(user.certData, user.certFile, entry),
    key: pem(user.keyData, user.keyFile, entry),
    impersonation: impersonationOf(entry),
  };
}

function identityOf(user: User, entry: Entry, cluster: Cluster, options: KubeConfigOptions): Identity {
  const raw = memberOf(entry.raw, 'user');
  const tokenFile = textAt(raw, 'tokenFile');
  if (memberOf(raw, 'exec')) return { kind: 'program', source: program(entry, cluster, options) };
  if (tokenFile) return { kind: 'tokenFile', path: pathFrom(entry, tokenFile) };
  if (user.token) return { kind: 'token', token: user.token };
  if (user.username) return { kind: 'password', username: user.username, password: user.password ?? '' };
  const provider = textAt(raw, 'auth-provider', 'name');
  if (provider === undefined) return { kind: 'anonymous' };
  if (provider === 'oidc') return { kind: 'header', header: openIdConnect(user) };
  throw invalid(
    `${entry.where}: the auth-provider ${provider} no longer exists; use its credential program (exec)`,
  );
}

function program(
  entry: Entry,
  cluster: Cluster,
  { clock, environment }: KubeConfigOptions,
): ExecCredentialSource {
  const spec = execSpecSchema.safeParse(memberOf(memberOf(entry.raw, 'user'), 'exec'));
  if (!spec.success) throw invalid(`${entry.where}: user.exec is invalid: ${spec.error.message}`);
  return new ExecCredentialSource({
    spec: spec.data,
    clock,
    environment,
    directory: entry.directory,
    cluster: {
      server: cluster.server,
      'tls-server-name': cluster.tlsServerName,
      'insecure-skip-tls-verify': cluster.skipTLSVerify,
      'certificate-authority-data': cluster.caData,
      'proxy-url': cluster.proxyUrl,
    },
  });
}

/** Imported on first use: it loads nearly all of its package. */
function openIdConnect(user: User): () => Promise<string | undefined> {
  let authenticator: OpenIDConnectAuth | undefined;
  return async () => {
    const request: { headers: Record<string, string> } = { headers: {} };
    try {
      const { OpenIDConnectAuth } = await import('@kubernetes/client-node/dist/oidc_auth.js');
      authenticator ??= new OpenIDConnectAuth();
      await authenticator.applyAuthentication(user, request);
    } catch {
      // The answer of the provider may repeat what it was sent.
      throw new KubernetesError(
        'KUBERNETES_CREDENTIALS',
        'cannot renew the OpenID Connect token: run kubectl with this kubeconfig to see why, which is not logged because it may hold credentials',
      );
    }
    return request.headers['Authorization'];
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonationOf({ raw }: Entry): Readonly<Record<string, string | readonly string[]>> {
  const user = memberOf(raw, 'user');
  const name = textAt(user, 'as');
  const uid = textAt(user, 'as-uid');
  const groups = memberOf(user, 'as-groups');
  return {
    ...(name && { 'impersonate-user': name }),
    ...(uid && { 'impersonate-uid': uid }),
    ...(isList(groups) && { 'impersonate-group': groups.map(String) }),
  };
}

function entryOf(
  files: readonly KubeConfigFile[],
  list: 'contexts' | 'clusters' | 'users',
  name: string,
): Entry {
  for (const { path, directory, content } of files) {
    const raw = listAt(content, list).find((entry) => textAt(entry, 'name') === name);
    if (raw !== undefined) return { raw: raw as JsonObject, directory, where: `${path}: ${list}: ${name}` };
  }
  throw invalid(`${files.map(({ path }) => path).join(', ')}: there is no ${name} among the ${list}`);
}

/** Reads one entry with the package's own reader, whose errors name a field. */
function readWith<T>(reader: (list: readonly JsonObject[]) => readonly T[], { raw, where }: Entry): T {
  try {
    const [read] = reader([raw]);
    if (read !== undefined) return read;
  } catch (cause) {
    throw invalid(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  throw invalid(`${where}: cannot be read`);
}

function pem(data: string | undefined, file: string | undefined, entry: Entry): PemSource {
  if (data) return { kind: 'text', text: Buffer.from(data, 'base64').toString('utf8') };
  return file ? { kind: 'file', path: pathFrom(entry, file) } : { kind: 'none' };
}

function pathFrom({ directory }: Entry, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}

function invalid(message: string, cause?: unknown): KubernetesError {
  return new KubernetesError('KUBECONFIG_INVALID', message, { cause });
}
