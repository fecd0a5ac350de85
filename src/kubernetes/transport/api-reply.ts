// Classifies the API server's answer to a request as a value that the caller can act on.
//
// Status codes and the Status object: https://kubernetes.io/docs/reference/using-api/api-concepts/ and
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/.
import { sanitizedText } from '../../network/untrusted-text.ts';
import { isObject, type Json, type JsonObject, listAt, textAt, valueAt } from '../../runtime/json.ts';
import { KubernetesError } from './kubernetes-error.ts';
import type { KubernetesTransport, TransportAnswer, TransportRequest } from './transport.ts';

export type ApiRefusal =
  /** 401: our credentials are not accepted. 403: our identity lacks this permission. */
  | { readonly kind: 'denied'; readonly status: number; readonly message: string }
  /** 404: the object, or its kind, does not exist. */
  | { readonly kind: 'gone'; readonly message: string }
  /** 409: the object changed since the request was computed, or already exists. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** 410: the resource version or continue token expired. */
  | { readonly kind: 'expired'; readonly message: string }
  /**
   * Any other 4xx, or a write that makes the object too large: the server never accepts this request.
   * `fields` are the fields it rejects.
   */
  | {
      readonly kind: 'invalid';
      readonly status: number;
      readonly message: string;
      readonly fields: readonly string[];
    }
  /** No answer (without a status), 429 or 5xx: retry later. The request may have taken effect. */
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly status?: number;
      readonly retryAfterMs?: number;
      /** An answer arrived and exceeded the read limit. */
      readonly isTooLong?: true;
    };

export type Reply =
  | { readonly kind: 'ok'; readonly object: JsonObject /** Length of its text. */; readonly size: number }
  | ApiRefusal;

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
    message: `answered ${status} with what is no JSON object: ${sanitizedText(start(answer.body))}`,
  };
}

/** Converts a transport error into a refusal; rethrows every other error. */
export function withoutAnswer(error: unknown): ApiRefusal {
  if (error instanceof KubernetesError) {
    const isTooLong = error.code === 'KUBERNETES_ANSWER_TOO_LONG';
    return { kind: 'unavailable', message: error.message, ...(isTooLong && { isTooLong }) };
  }
  throw error;
}

/** Classifies an answer other than a success. */
export function refusalOf(answer: TransportAnswer): ApiRefusal {
  return refusalOfStatus(answer.status, valueOf(answer), {
    message: start(answer.body) || `answered ${answer.status}`,
    ...(answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
  });
}

/**
 * Classifies a Status object with the code `code`, from an answer or a watch. `otherwise` fills in what the object
 * lacks.
 */
export function refusalOfStatus(
  code: number,
  status: unknown,
  otherwise: { readonly message: string; readonly retryAfterMs?: number },
): ApiRefusal {
  const object = isObject(status) ? status : undefined;
  const message = sanitizedText(textAt(object, 'message') ?? otherwise.message);
  const kind = isTooLarge(code, message) ? 'invalid' : kindOf(code);
  if (kind === 'invalid') return { kind, status: code, message, fields: causeFields(object) };
  if (kind === 'denied') return { kind, status: code, message };
  if (kind !== 'unavailable') return { kind, message };
  const retryAfterMs = otherwise.retryAfterMs ?? retryAfterOf(object);
  return { kind, status: code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

const kinds: ReadonlyMap<number, ApiRefusal['kind']> = new Map([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'gone'],
  [409, 'conflict'],
  [410, 'expired'],
  [429, 'unavailable'],
]);

function kindOf(code: number): ApiRefusal['kind'] {
  return kinds.get(code) ?? (code >= 400 && code < 500 ? 'invalid' : 'unavailable');
}

/**
 * The object would exceed the limit of etcd, or of the API server's request to it. The server answers 500,
 * but only the object is at fault: anyone with write access can cause that.
 */
function isTooLarge(code: number, message: string): boolean {
  return code === 500 && /request is too large|trying to send message larger than max/.test(message);
}

function retryAfterOf(status: JsonObject | undefined): number | undefined {
  const seconds = valueAt(status, 'details', 'retryAfterSeconds');
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
}

function causeFields(status: JsonObject | undefined): readonly string[] {
  return listAt(status, 'details', 'causes').flatMap((cause) => textAt(cause, 'field') ?? []);
}

/** The parsed body; undefined when it is not JSON. */
function valueOf(answer: TransportAnswer): Json | undefined {
  if (answer.value !== undefined) return answer.value;
  try {
    return JSON.parse(answer.body) as Json;
  } catch {
    return undefined;
  }
}

/** Enough of an unexpected body to recognise it, such as a proxy's error page. */
function start(body: string): string {
  return body.trim().slice(0, 200);
}
