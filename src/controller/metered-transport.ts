// Counts requests to the API server by what they were and how they ended.
import type {
  KubernetesTransport,
  StreamAnswer,
  TransportAnswer,
  TransportRequest,
} from '../kubernetes/transport.ts';
import type { Metrics } from '../observability/metrics.ts';

export class MeteredTransport implements KubernetesTransport {
  readonly #transport: KubernetesTransport;
  readonly #metrics: Metrics;

  constructor(transport: KubernetesTransport, metrics: Metrics) {
    this.#transport = transport;
    this.#metrics = metrics;
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    return this.#counted(
      request,
      verbs[request.method],
      this.#transport.send(request, signal),
      ({ status }) => status,
    );
  }

  stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer> {
    const status = (answer: StreamAnswer): number => (answer.kind === 'open' ? 200 : answer.answer.status);
    return this.#counted(request, 'watch', this.#transport.stream(request, signal), status);
  }

  async #counted<T>(
    { path }: TransportRequest,
    verb: string,
    sent: Promise<T>,
    statusOf: (answer: T) => number,
  ): Promise<T> {
    let code = 'error';
    try {
      const answer = await sent;
      code = String(statusOf(answer));
      return answer;
    } finally {
      this.#metrics.headwater_kubernetes_requests_total.add({ verb, resource: resourceOf(path), code });
    }
  }
}

/** As access rules name them; a list is a get of a collection and counts as one here. */
const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch' } as const;

/** The resource of `/api/v1/...` and `/apis/<group>/<version>/...`, in a namespace or not, with its subresource. */
function resourceOf(path: string): string {
  const parts = (path.split('?')[0] ?? '').split('/').filter((part) => part !== '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = '', , subresource] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}
