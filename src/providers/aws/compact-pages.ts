// Makes the SDK's client read pages of DescribeNetworkInterfaces with Headwater's own reader. The SDK signs, sends, and
// decodes errors; it reads by itself whatever the reader does not understand, from the same bytes.
import { Readable } from 'node:stream';
import { BodyGatherer } from './gathered-body.ts';
import { type InterfacePage, readInterfacePage } from './page-reader.ts';

/** Of the SDK's middleware, what is used here. Whatever is passed through is not looked at. */
interface Stack {
  add(middleware: Middleware, options: { step: 'initialize'; priority: 'high'; name: string }): void;
  add(middleware: Middleware, options: { step: 'deserialize'; priority: 'low'; name: string }): void;
}

type Middleware = (next: Handler, context: { readonly commandName?: string }) => Handler;
type Handler = (args: never) => Promise<{ readonly response?: unknown; output?: object }>;

interface Answer {
  readonly statusCode: number;
  body: unknown;
}

/** To be given to `use` of a client's middleware stack. */
export function compactPages(): { readonly applyToStack: (stack: Stack) => void } {
  const gatherer = new BodyGatherer();
  const pages = new WeakMap<object, InterfacePage>();

  const nextToTheWire: Middleware =
    (next, { commandName }) =>
    async (args) => {
      const result = await next(args);
      const { response } = result;
      if (commandName !== 'DescribeNetworkInterfacesCommand' || !isSuccess(response)) return result;
      const { body } = response;
      if (!(body instanceof Readable)) return result;
      const bytes = await gatherer.gather(body).catch((error: Error) => ({ error }));
      if ('error' in bytes) {
        // The SDK shall tell this failure as it tells every other.
        response.body = failing(bytes.error);
        return result;
      }
      const page = await readInTurns(bytes);
      if (page === undefined) {
        response.body = bytes;
        return result;
      }
      response.body = undefined;
      pages.set(response, page);
      gatherer.giveBack(bytes);
      return result;
    };

  const aroundTheSdk: Middleware = (next) => async (args) => {
    const result = await next(args);
    const page = isSuccess(result.response) ? pages.get(result.response) : undefined;
    return page === undefined ? result : { ...result, output: { ...result.output, ...page } };
  };

  return {
    applyToStack: (stack) => {
      stack.add(nextToTheWire, { step: 'deserialize', priority: 'low', name: 'readInterfacePage' });
      // Around all of the SDK, which would go through every page once more, for a log that nobody keeps.
      stack.add(aroundTheSdk, { step: 'initialize', priority: 'high', name: 'takeInterfacePage' });
    },
  };
}

async function readInTurns(body: Buffer): Promise<InterfacePage | undefined> {
  const reading = readInterfacePage(body);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isSuccess(response: unknown): response is Answer {
  if (typeof response !== 'object' || response === null || !('statusCode' in response)) return false;
  return typeof response.statusCode === 'number' && response.statusCode >= 200 && response.statusCode < 300;
}

function failing(error: Error): Readable {
  return new Readable({
    read() {
      this.destroy(error);
    },
  });
}
