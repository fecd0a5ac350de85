// The possible outcomes of an EC2 request, without sockets.
import type { Connection } from '../cloud/faults.ts';
import type { Ec2Refusal } from './ec2-refusal.ts';
import type { RecordShape } from './shape.ts';

export type Exchange =
  | {
      readonly kind: 'answered';
      readonly output: Readonly<Record<string, unknown>>;
      readonly shape: RecordShape;
    }
  | { readonly kind: 'refused'; readonly refusal: Ec2Refusal }
  /** The answer never arrives: the connection is dropped, or hangs until the client's time-out. */
  | { readonly kind: 'lost'; readonly connection: Connection }
  /** Something other than the answer arrives. */
  | {
      readonly kind: 'garbled';
      readonly form: 'truncated' | 'empty' | 'html502';
      readonly output: Readonly<Record<string, unknown>>;
      readonly shape: RecordShape;
    };

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

const garblings = {
  empty: 'the answer is empty',
  truncated: 'the answer ends in the middle',
  html502: 'the answer is a page of HTML with status 502',
};

/** Thrown to in-process callers if the answer is unreadable. */
export class AnswerGarbled extends Error {
  readonly form: keyof typeof garblings;

  constructor(form: keyof typeof garblings) {
    super(garblings[form]);
    this.name = 'AnswerGarbled';
    this.form = form;
  }
}
