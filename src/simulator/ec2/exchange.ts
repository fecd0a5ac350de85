// What can become of a request to EC2, apart from any socket.
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
  /** The answer never arrives: the connection is dropped, or hangs until the client has had enough. */
  | { readonly kind: 'lost'; readonly connection: Connection }
  /** Something arrives that is not the answer. */
  | {
      readonly kind: 'garbled';
      readonly form: 'truncated' | 'empty' | 'html502';
      readonly output: Readonly<Record<string, unknown>>;
      readonly shape: RecordShape;
    };

/** Thrown to callers inside the process whose answer is lost. */
export class AnswerLost extends Error {
  /** `hang`: a client would wait until its time-out; the caller makes that wait itself. */
  readonly connection: Connection;

  constructor(connection: Connection) {
    super(connection === 'drop' ? 'the connection was dropped' : 'no answer ever comes');
    this.name = 'AnswerLost';
    this.connection = connection;
  }
}

/** Thrown to callers inside the process whose answer cannot be read. */
export class AnswerGarbled extends Error {
  readonly form: 'truncated' | 'html502';

  constructor(form: 'truncated' | 'html502') {
    super(
      form === 'truncated' ? 'the answer ends in the middle' : 'the answer is a page of HTML with status 502',
    );
    this.name = 'AnswerGarbled';
    this.form = form;
  }
}
