// The steps of which the request script is made, as data: a request, and what must be true of its answer. The same steps run
// against the embedded model and against a real kube-apiserver.

/** What a part of a body must be: a value that must be equal, an object of which more fields may be there, or a matcher. */
export type Expected =
  | null
  | boolean
  | number
  | string
  | Matcher
  | readonly Expected[]
  | { readonly [name: string]: Expected };

export interface Matcher {
  readonly match: 'absent' | 'pattern' | 'present';
  readonly pattern?: string;
}

export const present: Matcher = { match: 'present' };
export const absent: Matcher = { match: 'absent' };

/** A text that matches a regular expression. */
export function like(pattern: RegExp): Matcher {
  return { match: 'pattern', pattern: pattern.source };
}

/** Who sends a request: a user with all rights, one without any, or an unknown one. */
export type Sender = 'admin' | 'reader' | 'stranger';

export interface Request {
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** `{name}` stands for what was captured under that name, here and in every text below. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly text?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly as?: Sender;
}

export interface Answer {
  readonly status: number;
  /** Of a Status. */
  readonly reason?: string;
  /** Of a Status: the whole text, or a pattern for it. */
  readonly message?: string | Matcher;
  readonly body?: Expected;
  /** Of a body that is no JSON. */
  readonly text?: string | Matcher;
  readonly contentType?: string;
  readonly retryAfter?: string;
  readonly warnings?: readonly string[];
  /** Name → path into the body. */
  readonly capture?: Readonly<Record<string, readonly string[]>>;
}

export interface EventExpectation {
  readonly type: string;
  readonly object: Expected;
}

export type Step =
  | { readonly kind: 'request'; readonly title: string; readonly request: Request; readonly answer: Answer }
  | {
      readonly kind: 'watch';
      readonly title: string;
      readonly path: string;
      readonly accept?: string;
      /** Of the watch itself; the steps inside have this long. */
      readonly seconds: number;
      readonly during: readonly Step[];
      /** What not every server can: to say when the initial events are over. An etcd before 3.4.25 does not let it. */
      readonly needs?: 'watch progress';
      /** All of them, in order; bookmarks without an annotation are not counted. */
      readonly events: readonly EventExpectation[];
    }
  /** The server drops its history, so that old versions can no longer be read. */
  | { readonly kind: 'expireHistory'; readonly title: string };

/** A request and its answer, short enough for a table. */
export function step(title: string, request: Request, answer: Answer): Step {
  return { kind: 'request', title, request, answer };
}
