// The steps of the request script, as data: a request, and the expectation about its answer. The same steps run
// against the embedded model and against a real kube-apiserver.

/** The expectation about a part of a body: an equal value, an object that may have more fields, or a matcher. */
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

/** The sender of a request: a user with all rights, one without any, or an unknown one. */
export type Sender = 'admin' | 'reader' | 'stranger';

export interface Request {
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** `{name}` stands for the value captured under that name, here and in every text below. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly text?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly as?: Sender;
}

export interface Answer {
  readonly status: number;
  /** The reason of a Status. */
  readonly reason?: string;
  /** The message of a Status: the whole text, or a pattern. */
  readonly message?: string | Matcher;
  readonly body?: Expected;
  /** The text of a body that is not JSON. */
  readonly text?: string | Matcher;
  readonly contentType?: string;
  readonly retryAfter?: string;
  readonly warnings?: readonly string[];
  /** By name, the path into the body. */
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
      /** How long the watch lasts; the steps inside must end in that time. */
      readonly seconds: number;
      readonly during: readonly Step[];
      /** Not every server can do this: report the end of the initial events. It needs etcd 3.4.25. */
      readonly needs?: 'watch progress';
      /** All events, in order; bookmarks without an annotation do not count. */
      readonly events: readonly EventExpectation[];
    }
  /** The server compacts its history, so that old versions can no longer be read. */
  | { readonly kind: 'expireHistory'; readonly title: string };

/** A request and its answer, short enough for a table. */
export function step(title: string, request: Request, answer: Answer): Step {
  return { kind: 'request', title, request, answer };
}
