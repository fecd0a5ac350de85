// What the API server said to a request, as a value that its caller can act on.
//
// Status codes and the Status object: https://kubernetes.io/docs/reference/using-api/api-concepts/ and
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/.
import { isList, isObject, type Json, type JsonObject, textAt, valueAt } from './json.ts';
import { KubernetesError } from './kubernetes-error.ts';
import type { KubernetesTransport, TransportAnswer, TransportRequest } from './transport.ts';

export type Refusal =
  /** 401, 403: who we are may not do this. */
  | { readonly kind: 'denied'; readonly status: number; readonly message: string }
  /** 404: no such object, or no such kind of object. */
  | { readonly kind: 'gone'; readonly message: string }
  /** 409: the object is another than the request was made from, or exists already. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** 410: the server no longer knows the resource version or continue token. */
  | { readonly kind: 'expired'; readonly message: string }
  /** Every other 4xx: the same request will never be accepted. `fields` are those the server objects to. */
  | {
      readonly kind: 'invalid';
      readonly status: number;
      readonly message: string;
      readonly fields: readonly string[];
    }
  /** No answer (then without a status), 429, 5xx: another time perhaps. The request may have had its effect. */
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly status?: number;
      readonly retryAfterMs?: number;
    };

export type Reply =
  | { readonly kind: 'ok'; readonly object: JsonObject /** Length of its text. */; readonly size: number }
  | Refusal;

/** Sends a request and reads the answer. Rejects only with the signal's reason. */
export async function ask(
  transport: KubernetesTransport,
  request: TransportRequest,
  signal: AbortSignal,
): Promise<Reply> {
  let answer: TransportAnswer;
  try {
    answer = await transport.send(request, signal);
  } catch (error) {
    return withoutAnswer(error);
  }
  if (answer.status < 200 || answer.status > 299) return refusalOf(answer);
  const object = valueOf(answer);
  if (isObject(object)) {
    return {
      kind: 'ok',
      object,
      get size() {
        return answer.body.length;
      },
    };
  }
  const { status } = answer;
  return {
    kind: 'unavailable',
    status,
    message: `answered ${status} with what is no JSON object: ${start(answer.body)}`,
  };
}

/** What an error of a transport means to the caller; errors that are none of a transport's are thrown on. */
export function withoutAnswer(error: unknown): Refusal {
  if (error instanceof KubernetesError) return { kind: 'unavailable', message: error.message };
  throw error;
}

/** What an answer other than a success says. */
export function refusalOf(answer: TransportAnswer): Refusal {
  return refusalOfStatus(answer.status, valueOf(answer), {
    message: start(answer.body) || `answered ${answer.status}`,
    ...(answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
  });
}

/**
 * What a Status object says that came with the code `code`, as an answer or within a watch.
 * `otherwise` counts where the object is silent.
 */
export function refusalOfStatus(
  code: number,
  status: unknown,
  otherwise: { readonly message: string; readonly retryAfterMs?: number },
): Refusal {
  const object = isObject(status) ? status : undefined;
  const message = textAt(object, 'message') ?? otherwise.message;
  const kind = kindOf(code);
  if (kind === 'invalid') return { kind, status: code, message, fields: causeFields(object) };
  if (kind === 'denied') return { kind, status: code, message };
  if (kind !== 'unavailable') return { kind, message };
  const retryAfterMs = otherwise.retryAfterMs ?? retryAfterOf(object);
  return { kind, status: code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

const kinds: ReadonlyMap<number, Refusal['kind']> = new Map([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'gone'],
  [409, 'conflict'],
  [410, 'expired'],
  [429, 'unavailable'],
]);

function kindOf(code: number): Refusal['kind'] {
  return kinds.get(code) ?? (code >= 400 && code < 500 ? 'invalid' : 'unavailable');
}

function retryAfterOf(status: JsonObject | undefined): number | undefined {
  const seconds = valueAt(status, 'details', 'retryAfterSeconds');
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
}

function causeFields(status: JsonObject | undefined): readonly string[] {
  const causes = valueAt(status, 'details', 'causes');
  return isList(causes) ? causes.flatMap((cause) => textAt(cause, 'field') ?? []) : [];
}

/** What the body spells; undefined where that is no JSON. */
function valueOf(answer: TransportAnswer): Json | undefined {
  if (answer.value !== undefined) return answer.value;
  try {
    return JSON.parse(answer.body) as Json;
  } catch {
    return undefined;
  }
}

/** Enough of a body that is not as expected to recognise it, a proxy's error page for example. */
function start(body: string): string {
  return body.trim().slice(0, 200);
}
