// Turns the user and cluster of a kubeconfig into the headers and TLS material of each request. It rereads files as
// they rotate.
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Credentials, TlsMaterial } from '../transport/cluster-access.ts';
import type { ExecCredential, ExecCredentialSource } from './exec-credential-source.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';

/** A PEM text, inline or in a file. */
export type PemSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

/** Source of the `authorization` header. */
export type Identity =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'tokenFile'; readonly path: string }
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'program'; readonly source: ExecCredentialSource }
  /** Any other source of a complete header. */
  | { readonly kind: 'header'; readonly header: () => Promise<string | undefined> };

export interface UserOptions {
  readonly clock: Clock;
  readonly identity: Identity;
  readonly ca: PemSource;
  readonly cert: PemSource;
  readonly key: PemSource;
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  /** Headers that name the user we impersonate. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
}

type TextSource = () => Promise<string | undefined>;

export class UserCredentials {
  readonly #options: UserOptions;
  readonly #files: CachedFile[] = [];
  readonly #ca: TextSource;
  readonly #cert: TextSource;
  readonly #key: TextSource;
  readonly #authorization: (fromProgram: ExecCredential | undefined) => Promise<string | undefined>;
  #last: Credentials | undefined;

  constructor(options: UserOptions) {
    this.#options = options;
    this.#ca = this.#pem(options.ca);
    this.#cert = this.#pem(options.cert);
    this.#key = this.#pem(options.key);
    this.#authorization = this.#authorizationOf(options.identity);
  }

  /** The current credentials; the same object while nothing changes. */
  async current(): Promise<Credentials> {
    const { identity, impersonation } = this.#options;
    const program = identity.kind === 'program' ? await identity.source.credential() : undefined;
    const authorization = await this.#authorization(program);
    const read = await this.#tls(program);
    const last = this.#last;
    // Unchanged TLS material keeps its identity, so that a new token needs no new connections.
    const tls = last !== undefined && isSame(last.tls, read) ? last.tls : read;
    if (last?.tls === tls && last.headers['authorization'] === authorization) return last;
    const headers = { ...impersonation, ...(authorization !== undefined && { authorization }) };
    this.#last = { headers, tls };
    return this.#last;
  }

  /** Refreshes every rotating credential on the next use, unless others than `refused` are in use by now. */
  forget(refused: Credentials): void {
    if (refused !== this.#last) return;
    for (const file of this.#files) file.forget();
    if (this.#options.identity.kind === 'program') this.#options.identity.source.forget();
  }

  async #tls(program: ExecCredential | undefined): Promise<TlsMaterial> {
    const { serverName, insecure } = this.#options;
    return {
      ca: await this.#ca(),
      cert: program?.cert ?? (await this.#cert()),
      key: program?.key ?? (await this.#key()),
      serverName,
      insecure,
    };
  }

  #pem(source: PemSource): TextSource {
    if (source.kind === 'none') return () => Promise.resolve(undefined);
    if (source.kind === 'text') return () => Promise.resolve(source.text);
    const file = this.#file(source.path);
    return () => file.read();
  }

  #authorizationOf(
    identity: Identity,
  ): (fromProgram: ExecCredential | undefined) => Promise<string | undefined> {
    switch (identity.kind) {
      case 'anonymous':
        return () => Promise.resolve(undefined);
      case 'token':
        return () => Promise.resolve(`Bearer ${identity.token}`);
      case 'tokenFile': {
        const file = this.#file(identity.path);
        return async () => `Bearer ${(await file.read()).trim()}`;
      }
      case 'password': {
        const pair = Buffer.from(`${identity.username}:${identity.password}`).toString('base64');
        return () => Promise.resolve(`Basic ${pair}`);
      }
      case 'program':
        return (credential) => Promise.resolve(credential?.token && `Bearer ${credential.token}`);
      case 'header':
        return identity.header;
    }
  }

  #file(path: string): CachedFile {
    const file = new CachedFile(path, this.#options.clock);
    this.#files.push(file);
    return file;
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}

/** Maximum age of the cached content, in ms. Kubelets rotate tokens long before they expire. */
const maxAge = 60_000;

/** A file that another process rewrites, such as a service account token. */
class CachedFile {
  readonly #path: string;
  readonly #clock: Clock;
  #content: { readonly text: string; readonly readAt: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** The content, at most a minute old. Rejects with KUBERNETES_CREDENTIALS when the file is unreadable. */
  async read(): Promise<string> {
    const now = this.#clock.monotonic();
    if (this.#content !== undefined && now - this.#content.readAt < maxAge) return this.#content.text;
    try {
      const text = await readFile(this.#path, 'utf8');
      this.#content = { text, readAt: now };
      return text;
    } catch (cause) {
      const details = { path: this.#path };
      throw new KubernetesError('KUBERNETES_CREDENTIALS', `cannot read ${this.#path}`, { details, cause });
    }
  }

  /** Drops the cached content: the next read goes to disk. */
  forget(): void {
    this.#content = undefined;
  }
}
