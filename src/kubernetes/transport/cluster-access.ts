// How to reach a cluster and authenticate to it, resolved from a kubeconfig or a service account. Types only.

export interface ClusterAccess {
  /** Its path, if any, prefixes each request path. */
  readonly server: URL;
  /** Where the configuration was found, for people. */
  readonly source: string;
  /** Namespace of the context or the pod, if any. */
  readonly namespace: string | undefined;
  /** Why nothing proves that an answer comes from this server; undefined if its certificate is verified. */
  readonly unverified?: string;
  /** HTTP proxy in front of the server; may hold a user and password. */
  readonly proxy: URL | undefined;
  /**
   * The current credentials: tokens and certificates rotate. Returns the same object while nothing changes. All callers
   * share one acquisition, so none can abort it. Rejects with KUBERNETES_CREDENTIALS when acquisition fails.
   */
  credentials(): Promise<Credentials>;
  /** The server rejected these credentials: acquire again whatever can be acquired, unless that was done already. */
  forget(refused: Credentials): void;
}

export interface Credentials {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

/** PEM. */
export interface TlsMaterial {
  /** Trusted authorities; undefined means those of Node.js. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Expected name in the server's certificate, if not its host name. */
  readonly serverName: string | undefined;
  /** Skips verification of the server's certificate. */
  readonly insecure: boolean;
}
