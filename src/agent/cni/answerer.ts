// Answers one call of the plugin: what it prints, and how it exits. Everything is decided here; the plugin only carries.
import type { Clock } from '../../runtime/clock.ts';
import { isObject, objectIn } from '../../runtime/json.ts';
import { cniErrorText } from './cni-error.ts';
import { type CniEnvironment, readInvocation } from './invocation.ts';
import type { Verbs } from './verbs.ts';

export interface CniCall {
  readonly env: CniEnvironment;
  readonly stdin: string;
}

export interface CniAnswer {
  readonly exit: 0 | 1;
  readonly out: string;
  readonly note?: string;
}

export interface CniFigures {
  /** `none` if the call names no verb. */
  readonly verb: string;
  readonly code: string;
  /** In seconds. */
  readonly duration: number;
}

export class Answerer {
  readonly #verbs: Verbs;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #onAnswer: (figures: CniFigures) => void;

  constructor(verbs: Verbs, clock: Pick<Clock, 'monotonic'>, onAnswer: (figures: CniFigures) => void) {
    this.#verbs = verbs;
    this.#clock = clock;
    this.#onAnswer = onAnswer;
  }

  async answer({ env, stdin }: CniCall, signal: AbortSignal): Promise<CniAnswer> {
    const start = this.#clock.monotonic();
    const told = (verb: string, code: number): void =>
      this.#onAnswer({ verb, code: String(code), duration: (this.#clock.monotonic() - start) / 1000 });
    const read = readInvocation(env, stdin);
    if (read.kind === 'refused') {
      told(read.verb ?? 'none', read.error.code);
      return { exit: 1, out: cniErrorText(read.version, read.error) };
    }
    const { verb, conf } = read.invocation;
    const outcome = await this.#verbs.run(read.invocation, signal);
    told(verb, outcome.kind === 'ok' ? 0 : outcome.error.code);
    return outcome.kind === 'ok'
      ? { exit: 0, ...outcome.value }
      : { exit: 1, out: cniErrorText(conf.version, outcome.error) };
  }
}

/** Undefined if the text is no call of the plugin. */
export function parseCall(text: string): CniCall | undefined {
  const { env, stdin } = objectIn(text) ?? {};
  if (!isObject(env) || typeof stdin !== 'string') return undefined;
  return Object.values(env).every((value) => typeof value === 'string')
    ? { env: env as CniEnvironment, stdin }
    : undefined;
}
