// Runs the request script against a server and returns the differences.
import { type Captured, differences, filled } from './expectation.ts';
import type { Answer, EventExpectation, Request, Sender, Step } from './step.ts';

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface WireAnswer {
  readonly status: number;
  /** Names in lower case; several warnings in one text. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, once it has ended. */
  readonly text: () => Promise<string>;
}

/** A server against which the script can run. */
export interface Target {
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  readonly tokenOf: (sender: Sender) => string;
  /** Lets a watch of this many seconds end. */
  readonly pass: (seconds: number) => Promise<void>;
  readonly expireHistory: () => Promise<void>;
  /** The script skips steps that need it. */
  readonly lacks?: 'watch progress';
}

export interface Failure {
  readonly title: string;
  readonly differences: readonly string[];
}

export interface Outcome {
  readonly requests: number;
  /** Skipped steps, because the server lacks what they need. */
  readonly omitted: readonly string[];
  readonly failures: readonly Failure[];
}

export async function runScript(target: Target, script: readonly Step[]): Promise<Outcome> {
  const run = new Run(target);
  for (const step of script) await run.perform(step);
  return run.outcome();
}

class Run {
  readonly #target: Target;
  readonly #failures: Failure[] = [];
  readonly #omitted: string[] = [];
  #captured: Captured = {};
  #requests = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  outcome(): Outcome {
    return { requests: this.#requests, omitted: this.#omitted, failures: this.#failures };
  }

  async perform(step: Step): Promise<void> {
    if (step.kind === 'watch' && step.needs !== undefined && step.needs === this.#target.lacks) {
      this.#omitted.push(step.title);
      return;
    }
    switch (step.kind) {
      case 'request':
        this.#note(step.title, await this.#request(step.request, step.answer));
        return;
      case 'watch':
        this.#note(step.title, await this.#watch(step));
        return;
      case 'expireHistory':
        await this.#target.expireHistory();
    }
  }

  #note(title: string, found: readonly string[]): void {
    if (found.length > 0) this.#failures.push({ title, differences: found });
  }

  #send(request: Request): Promise<WireAnswer> {
    this.#requests++;
    const { method, path, accept = 'application/json', as = 'admin' } = request;
    const body = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { accept, authorization: `Bearer ${this.#target.tokenOf(as)}` };
    return this.#target.send({
      method,
      path: filled(path, this.#captured),
      headers: body === undefined ? headers : { ...headers, 'content-type': request.contentType ?? type },
      body: body === undefined ? undefined : filled(body, this.#captured),
    });
  }

  async #request(request: Request, expected: Answer): Promise<readonly string[]> {
    const answer = await this.#send(request);
    const text = await answer.text();
    const body = parsed(text);
    this.#capture(body, expected.capture ?? {});
    return [
      ...this.#compare(answer.status, expected.status, 'status'),
      ...this.#compare((body as { reason?: unknown } | undefined)?.reason, expected.reason, 'reason'),
      ...this.#compare((body as { message?: unknown } | undefined)?.message, expected.message, 'message'),
      ...this.#compare(body, expected.body, 'body'),
      ...this.#compare(text, expected.text, 'text'),
      ...this.#compare(answer.headers['content-type'], expected.contentType, 'content-type'),
      ...this.#compare(answer.headers['retry-after'], expected.retryAfter, 'retry-after'),
      ...this.#compare(warningsIn(answer.headers['warning']), expected.warnings, 'warnings'),
    ];
  }

  #compare(
    actual: unknown,
    expected: Parameters<typeof differences>[1] | undefined,
    what: string,
  ): readonly string[] {
    return expected === undefined ? [] : differences(actual, expected, this.#captured, what);
  }

  async #watch(step: Step & { readonly kind: 'watch' }): Promise<readonly string[]> {
    const { path, accept, seconds, during, events } = step;
    const separator = path.includes('?') ? '&' : '?';
    const url = `${path}${separator}watch=1&timeoutSeconds=${seconds}`;
    const answer = await this.#send({
      method: 'GET',
      path: url,
      ...(accept === undefined ? {} : { accept }),
    });
    const text = answer.text();
    for (const inner of during) await this.perform(inner);
    await this.#target.pass(seconds);
    return this.#compareEvents(await text, events);
  }

  #compareEvents(text: string, expected: readonly EventExpectation[]): readonly string[] {
    const events = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parsed(line) as EventExpectation)
      .filter((event) => !isPlainBookmark(event));
    return this.#compare(events, expected as unknown as Parameters<typeof differences>[1], 'events');
  }

  #capture(body: unknown, wanted: Readonly<Record<string, readonly string[]>>): void {
    for (const [name, path] of Object.entries(wanted)) {
      const value = path.reduce<unknown>(
        (part, key) => (part as Record<string, unknown> | undefined)?.[key],
        body,
      );
      this.#captured = { ...this.#captured, [name]: String(value) };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The texts of a Warning header. https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningsIn(header: string | undefined): readonly string[] {
  const found = (header ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g);
  return Array.from(found, ([, text = '""']) => JSON.parse(text) as string);
}

/** A server sends bookmarks at its own discretion; it promises only the one that ends the initial events. */
function isPlainBookmark(event: { readonly type: string; readonly object: unknown }): boolean {
  const { metadata } = event.object as { readonly metadata?: { readonly annotations?: unknown } };
  return event.type === 'BOOKMARK' && metadata?.annotations === undefined;
}
