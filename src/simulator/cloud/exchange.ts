// The possible outcomes of a request to a cloud, without sockets and whatever the protocol.
import type { Connection } from './faults.ts';

export type BrokenForm = 'truncated' | 'empty' | 'html502';

export type Exchange<Output, Refusal> =
  | { readonly kind: 'answered'; readonly output: Output }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The answer never arrives: the connection is dropped, or hangs until the client's time-out. */
  | { readonly kind: 'lost'; readonly connection: Connection }
  /** Something other than the answer arrives. */
  | { readonly kind: 'garbled'; readonly form: BrokenForm; readonly output: Output };

/** Thrown to in-process callers if the answer is lost. */
export class AnswerLost extends Error {
  /** `hang`: a client would wait until its time-out; the in-process caller waits itself. */
  readonly connection: Connection;

  constructor(connection: Connection) {
    super(connection === 'drop' ? 'the connection was dropped' : 'no answer ever comes');
    this.name = 'AnswerLost';
    this.connection = connection;
  }
}

const garblings: Readonly<Record<BrokenForm, string>> = {
  empty: 'the answer is empty',
  truncated: 'the answer ends in the middle',
  html502: 'the answer is a page of HTML with status 502',
};

/** Thrown to in-process callers if the answer is unreadable. */
export class AnswerGarbled extends Error {
  readonly form: BrokenForm;

  constructor(form: BrokenForm) {
    super(garblings[form]);
    this.name = 'AnswerGarbled';
    this.form = form;
  }
}
