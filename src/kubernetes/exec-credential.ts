// Credentials from a program that the kubeconfig names, as managed clusters have them.
//
// The protocol: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
import { execFile } from 'node:child_process';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../scheduling/clock.ts';
import { withDeadline } from './deadline.ts';
import { KubernetesError } from './kubernetes-error.ts';

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
  /** As PEM. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface ExecOptions {
  readonly spec: ExecSpec;
  readonly clock: Clock;
  /** Of the process: what the program sees beside what the kubeconfig adds. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of the kubeconfig: a command with a slash is found from here. */
  readonly directory: string;
  /** What the program is told of the cluster if it asks for it. */
  readonly cluster: Readonly<Record<string, unknown>>;
}

/** In ms. */
const timeLimit = 60_000;

/** A credential so young is not asked for again, whatever the server says of it, in ms. */
const youngAge = 10_000;

/** A credential counts as over so long before it is, in ms. */
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
  readonly obtained: number;
  /** On the wall clock; undefined for good. */
  readonly expires: number | undefined;
}

export class ExecCredentialSource {
  readonly #options: ExecOptions;
  #held: Held | undefined;
  #running: Promise<Held> | undefined;

  constructor(options: ExecOptions) {
    this.#options = options;
  }

  /** One run of the program serves all who wait. Rejects with a KUBERNETES_CREDENTIALS error. */
  async credential(): Promise<ExecCredential> {
    if (this.#held === undefined || this.#isOver(this.#held)) {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
      this.#held = await this.#running;
    }
    return this.#held.credential;
  }

  forget(): void {
    if (this.#held === undefined) return;
    if (this.#options.clock.monotonic() - this.#held.obtained >= youngAge) this.#held = undefined;
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
      const { status } = answerSchema.parse(JSON.parse(text));
      const credential = {
        token: status.token ?? undefined,
        cert: status.clientCertificateData ?? undefined,
        key: status.clientKeyData ?? undefined,
      };
      const expires = Date.parse(status.expirationTimestamp ?? '');
      return {
        credential,
        obtained: clock.monotonic(),
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
      const child = execFile(command, spec.args ?? [], { env, signal }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr.trim().slice(-500) || error.message, { cause: error }));
      });
      // A program that asks a question must not wait for an answer that nobody gives.
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
    const hint = installHint ? ` (${installHint})` : '';
    return new KubernetesError(
      'KUBERNETES_CREDENTIALS',
      `the credential program ${command} failed: ${why}${hint}`,
      {
        details: { command },
        cause,
      },
    );
  }
}
