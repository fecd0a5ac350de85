// Makes the SDK's client parse EC2 answers with Headwater's own reader. The SDK signs, sends and decodes
// errors. Every answer that says "done" or "this exists" goes through our reader only. An answer that is not
// from EC2 rejects the call.
import { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import { answerShapes } from './answer-shapes.ts';
import { boundedBody, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Ec2Action } from './ec2-api.ts';
import { BodyGatherer } from '../../network/body-gatherer.ts';
import { type AnswerShape, readAnswer } from './page-reader.ts';
import { NotUnderstood } from './xml-cursor.ts';

/** The part of the SDK's middleware interface used here. Data that is only passed on has no type. */
interface Stack {
  add(middleware: Middleware, options: { step: 'initialize'; priority: 'high'; name: string }): void;
  add(middleware: Middleware, options: { step: 'deserialize'; priority: 'low'; name: string }): void;
}

type Middleware = (next: Handler, context: { readonly commandName?: string }) => Handler;
type Handler = (args: never) => Promise<{ readonly response?: unknown; output?: object }>;

interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  body: unknown;
}

/** Twice a page of 1,000 interfaces with 50 addresses each, in bytes. */
const maxPageBytes = 32 * 2 ** 20;
/** Limits for the answer to a mutation, and for an error, in bytes. */
const maxChangeBytes = 2 ** 20;
const maxRefusalBytes = 2 ** 16;

/** For `use` of a client's middleware stack. */
export function compactPages(clock: Clock): { readonly applyToStack: (stack: Stack) => void } {
  const gatherer = new BodyGatherer();
  const outputs = new WeakMap<object, object>();

  const gather = ({ headers, body }: Answer, max: number): Promise<Buffer> => {
    const source = body instanceof Readable ? body : Readable.from([]);
    return gatherer.gather(boundedBody(source, { max, clock, headers }));
  };

  const read = async (action: Ec2Action, answer: Answer): Promise<object> => {
    const max = action.startsWith('Describe') ? maxPageBytes : maxChangeBytes;
    const bytes = await gather(answer, max);
    try {
      return await readInTurns(answerShapes[action], bytes);
    } finally {
      gatherer.recycle(bytes);
    }
  };

  const nextToTheWire: Middleware =
    (next, { commandName = '' }) =>
    async (args) => {
      const result = await next(args);
      const { response } = result;
      if (!isAnswer(response)) return result;
      const action = commandName.replace(/Command$/, '');
      if (!isSuccess(response)) response.body = await gather(response, maxRefusalBytes).then(plain, nothing);
      else if (isKnown(action)) {
        outputs.set(
          response,
          await read(action, response).catch((error: unknown) => refuse(error, response)),
        );
        response.body = undefined;
      }
      return result;
    };

  const aroundTheSdk: Middleware = (next) => async (args) => {
    const result = await next(args);
    const output = isAnswer(result.response) ? outputs.get(result.response) : undefined;
    return output === undefined ? result : { ...result, output: { ...result.output, ...output } };
  };

  return {
    applyToStack: (stack) => {
      stack.add(nextToTheWire, { step: 'deserialize', priority: 'low', name: 'readAnswer' });
      // Outside all other middleware: the SDK would traverse every page again for a log that is dropped.
      stack.add(aroundTheSdk, { step: 'initialize', priority: 'high', name: 'takeAnswer' });
    },
  };
}

async function readInTurns(shape: AnswerShape<object>, body: Buffer): Promise<object> {
  const reading = readAnswer(shape, body);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Keeps the status and the request id of the answer. */
function refuse(error: unknown, { statusCode, headers = {} }: Answer): never {
  const known =
    error instanceof NotUnderstood ? new UnreadableAnswer(error.message, { cause: error }) : error;
  if (!(known instanceof UnreadableAnswer)) throw known;
  const requestId = headers['x-amzn-requestid'] ?? headers['x-amz-request-id'];
  throw Object.assign(known, { $metadata: { httpStatusCode: statusCode, requestId } });
}

/** The SDK builds a tree of an error. EC2 never sends a declaration in one. */
function plain(refusal: Buffer): Buffer {
  return refusal.includes('<!') ? nothing() : refusal;
}

/** For an error without a body the SDK uses the status. */
function nothing(): Buffer {
  return Buffer.alloc(0);
}

function isKnown(action: string): action is Ec2Action {
  return Object.hasOwn(answerShapes, action);
}

function isAnswer(response: unknown): response is Answer {
  if (typeof response !== 'object' || response === null || !('statusCode' in response)) return false;
  return typeof response.statusCode === 'number';
}

function isSuccess({ statusCode }: Answer): boolean {
  return statusCode >= 200 && statusCode < 300;
}
