// Runs the credential plugin that a kubeconfig names, as managed clusters need it, and caches its credential.
//
// The protocol: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
import { execFile } from 'node:child_process';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { withDeadline } from '../transport/deadline.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';

export const execSpecSchema = z.object({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
});

export type ExecSpec = z.infer<typeof execSpecSchema>;

export interface ExecCredential {
  readonly token: string | undefined;
  /** PEM. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface ExecOptions {
  readonly spec: ExecSpec;
  readonly clock: Clock;
  /** Our environment, which the plugin inherits; the kubeconfig adds to it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Directory of the kubeconfig: base of a relative command with a slash. */
  readonly directory: string;
  /** Cluster information for a plugin that requests it. */
  readonly cluster: Readonly<Record<string, unknown>>;
}

/** Ms. */
const timeLimit = 60_000;

/** A credential counts as expired this long before its expiry, in ms. */
const leeway = 10_000;

const answerSchema = z.object({
  status: z.object({
    token: z.string().nullish(),
    clientCertificateData: z.string().nullish(),
    clientKeyData: z.string().nullish(),
    expirationTimestamp: z.string().nullish(),
  }),
});

interface Held {
  readonly credential: ExecCredential;
  /** Wall clock; undefined when it never expires. */
  readonly expires: number | undefined;
}

export class ExecCredentialSource {
  readonly #options: ExecOptions;
  #held: Held | undefined;
  #running: Promise<Held> | undefined;

  constructor(options: ExecOptions) {
    this.#options = options;
  }

  /** All callers share one run of the plugin. Rejects with KUBERNETES_CREDENTIALS. */
  async credential(): Promise<ExecCredential> {
    if (this.#held === undefined || this.#isOver(this.#held)) {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
      this.#held = await this.#running;
    }
    return this.#held.credential;
  }

  /** Runs the plugin again on the next use. The caller limits how often. */
  forget(): void {
    this.#held = undefined;
  }

  #isOver({ expires }: Held): boolean {
    return expires !== undefined && this.#options.clock.wall() >= expires - leeway;
  }

  async #run(): Promise<Held> {
    const { clock, spec } = this.#options;
    const signal = new AbortController().signal;
    const waitingFor = `the credential program ${spec.command}`;
    try {
      const text = await withDeadline({ clock, ms: timeLimit, signal, waitingFor }, (inner) =>
        this.#output(inner),
      );
      const { status } = answerOf(text);
      const credential = {
        token: status.token ?? undefined,
        cert: status.clientCertificateData ?? undefined,
        key: status.clientKeyData ?? undefined,
      };
      const expires = Date.parse(status.expirationTimestamp ?? '');
      return {
        credential,
        expires: Number.isNaN(expires) ? undefined : expires,
      };
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  #output(signal: AbortSignal): Promise<string> {
    const { spec, environment, directory } = this.#options;
    const isPath = spec.command.includes('/') && !isAbsolute(spec.command);
    const command = isPath ? join(directory, spec.command) : spec.command;
    const added = Object.fromEntries((spec.env ?? []).map(({ name, value }) => [name, value] as const));
    const env = { ...environment, ...added, KUBERNETES_EXEC_INFO: this.#info() };
    return new Promise((resolve, reject) => {
      const child = execFile(command, spec.args ?? [], { env, signal }, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(new Error(endInWords(error)));
      });
      // A plugin that prompts must not wait for input that never comes.
      child.stdin?.end();
    });
  }

  #info(): string {
    const { spec, cluster } = this.#options;
    return JSON.stringify({
      apiVersion: spec.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, ...(spec.provideClusterInfo === true && { cluster }) },
    });
  }

  #failure(cause: unknown): KubernetesError {
    const { command, installHint } = this.#options.spec;
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = installHint ? '; the kubeconfig has an installHint for it' : '';
    // No `cause`: Node.js keeps arguments and output in its errors.
    return new KubernetesError(
      'KUBERNETES_CREDENTIALS',
      `the credential program ${command} failed: ${why}${hint}`,
      { details: { command } },
    );
  }
}

/** How the plugin ended, without its arguments and output: both may hold credentials. */
function endInWords({ code, signal }: { readonly code?: unknown; readonly signal?: unknown }): string {
  if (code === 'ENOENT') return 'it is not there';
  const how =
    typeof signal === 'string'
      ? `it was ended by ${signal}`
      : `it ended with ${typeof code === 'number' || typeof code === 'string' ? code : 'an error'}`;
  return `${how}; run it by hand to see its output, which is not logged because it may hold credentials`;
}

function answerOf(text: string): z.infer<typeof answerSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's error would quote the output.
    throw new Error('its output is not JSON');
  }
  const read = answerSchema.safeParse(json);
  if (read.success) return read.data;
  const fields = read.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new Error(`its output is not an ExecCredential: ${fields} is invalid`);
}
