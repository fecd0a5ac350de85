// Counts requests to the API server by verb, resource and outcome.
import type {
  KubernetesTransport,
  StreamAnswer,
  TransportAnswer,
  TransportRequest,
} from '../../kubernetes/transport/transport.ts';
import type { Metrics } from '../../observability/metrics.ts';

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
      verbOf(request),
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

const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** The verb as RBAC names it. */
function verbOf({ method, path }: TransportRequest): string {
  if (method !== 'GET') return verbs[method];
  return partsOf(path).name === undefined ? 'list' : 'get';
}

function resourceOf(path: string): string {
  const { resource, subresource } = partsOf(path);
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

interface PathParts {
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Parses `/api/v1/...` and `/apis/<group>/<version>/...`, namespaced or not. */
function partsOf(path: string): PathParts {
  const parts = (path.split('?')[0] ?? '').split('/').filter((part) => part !== '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = '', name, subresource] =
    rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return { resource, name, subresource };
}
