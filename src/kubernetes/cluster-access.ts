// How to reach a cluster and who to be there: what a kubeconfig or a pod's service account comes down to. Types only.

export interface ClusterAccess {
  /** Its path, if it has one, goes before that of each request. */
  readonly server: URL;
  /** Where this was found, for people. */
  readonly source: string;
  /** The namespace of the context or of the pod, if one is said. */
  readonly namespace: string | undefined;
  /** An HTTP proxy between us and the server; it may hold user and password. */
  readonly proxy: URL | undefined;
  /**
   * Who to be, as of now: tokens and certificates rotate. The same object as long as nothing has changed. Getting them is
   * shared by all who wait, so nobody can abort it. Rejects with a KUBERNETES_CREDENTIALS error when they cannot be had.
   */
  credentials(): Promise<Credentials>;
  /** The server does not accept what it was given: whatever can be had anew is to be had anew. */
  forget(): void;
}

export interface Credentials {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

/** As PEM. */
export interface TlsMaterial {
  /** Whom to trust; what Node.js trusts when undefined. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** What the server's certificate is made out to, if not to its host name. */
  readonly serverName: string | undefined;
  /** Trust whoever answers. */
  readonly insecure: boolean;
}
