// The answer to an EC2 request, without sockets.
import type { Exchange } from '../cloud/exchange.ts';
import type { Ec2Refusal } from './ec2-refusal.ts';
import type { RecordShape } from './shape.ts';

/** The output of an action, with the shape that puts it on the wire. */
export interface Ec2Answer {
  readonly members: Readonly<Record<string, unknown>>;
  readonly shape: RecordShape;
}

export type Ec2Exchange = Exchange<Ec2Answer, Ec2Refusal>;
