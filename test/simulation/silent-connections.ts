// Connections of one process to the API server that live and pass nothing on, as through a load balancer whose other
// side is gone: open watches neither deliver nor end, and requests get no answer. New connections work.
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import type { SilentWay } from './scenario.ts';

type Answer = Awaited<ReturnType<KubernetesHandler>>;
type Events = Extract<Answer['body'], { readonly events: unknown }>;

export class SilentConnections {
  /** Watches with a lower number are silent. */
  #silencedBelow = 0;
  #opened = 0;
  #way: SilentWay = 'both';
  #requestsLeft = 0;

  /** Silences all open connections: those of the open watches, and of the next requests. */
  silence(way: SilentWay, requests: number): void {
    if (way !== 'toServer') this.#silencedBelow = this.#opened;
    this.#way = way;
    this.#requestsLeft = requests;
  }

  /** The server, over these connections. */
  over(handler: KubernetesHandler): KubernetesHandler {
    return async (request, signal) => {
      const isWatch = request.method === 'GET' && request.url.includes('watch=');
      if (!isWatch && this.#requestsLeft > 0) {
        this.#requestsLeft--;
        if (this.#way === 'fromServer') await handler(request, signal);
        return forEver();
      }
      const answer = await handler(request, signal);
      return isWatch ? this.#watched(answer) : answer;
    };
  }

  #watched(answer: Answer): Answer {
    const { body } = answer;
    if (typeof body === 'string') return answer;
    const opened = this.#opened++;
    const pass = <T>(pieces: AsyncIterable<T>): AsyncIterable<T> =>
      whileHeard(pieces, () => opened < this.#silencedBelow);
    if (!('events' in body)) return { ...answer, body: pass(body) };
    const events = (): ReturnType<Events['events']> => pass(body.events());
    return { ...answer, body: Object.assign(pass<string>(body), { events }) };
  }
}

async function* whileHeard<T>(
  pieces: AsyncIterable<T>,
  isSilent: () => boolean,
): AsyncGenerator<T, void, undefined> {
  for await (const piece of pieces) {
    if (isSilent()) break;
    yield piece;
  }
  if (isSilent()) await forEver();
}

/** The caller gives up at its time-out. */
function forEver<T>(): Promise<T> {
  return new Promise(() => undefined);
}
