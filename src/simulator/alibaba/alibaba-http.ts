// Answers one HTTP request to the RPC APIs, without sockets: signature, parameters, and the text of the answer.
import { broken, type HttpAnswer, type HttpOutcome, type HttpRequest } from '../http-front.ts';
import type { JsonObject } from '../workload/json.ts';
import type { AlibabaGateway } from './alibaba-gateway.ts';
import type { RpcExchange, RpcRequest } from './rpc-call.ts';
import { protocolParameters, verifyOlderSignature } from './older-signature.ts';
import { invalidParameter, RpcRefusal } from './rpc-refusal.ts';
import { verifySignature } from './rpc-signature.ts';

export interface RpcHttpContext {
  readonly gateway: AlibabaGateway;
  /** The clients' wall clock in ms, for signatures. */
  readonly now: number;
  readonly requestId: string;
}

/** Answers one request. Never rejects because of a client. */
export async function answerRpc(request: HttpRequest, context: RpcHttpContext): Promise<HttpOutcome> {
  const { gateway, requestId } = context;
  try {
    return outcomeOf(await gateway.exchange(requestOf(request, context)), context);
  } catch (error) {
    if (error instanceof RpcRefusal) return refusalAnswer(error, requestId, gateway.network.region);
    throw error;
  }
}

/** The same for a caller that needs no signature. */
export async function answerCaller(request: RpcRequest, context: RpcHttpContext): Promise<HttpOutcome> {
  return outcomeOf(await context.gateway.exchange(request), context);
}

/** With the older signature everything is in parameters, whatever headers clients send besides. */
function requestOf(request: HttpRequest, { gateway, now }: RpcHttpContext): RpcRequest {
  const { headers, method } = request;
  const { credentials } = gateway;
  const parameters = parametersOf(request);
  const isOlder = headers['authorization'] === undefined && parameters.has('SignatureMethod');
  const { credential: caller, nonce } = isOlder
    ? verifyOlderSignature(method, parameters, { credentials, now })
    : verifySignature(request, credentials, now);
  gateway.nonces.take(nonce, now);
  if (!isOlder) {
    return {
      action: headers['x-acs-action'] ?? '',
      version: headers['x-acs-version'] ?? '',
      parameters,
      caller,
    };
  }
  if (parameters.get('Format')?.toUpperCase() !== 'JSON') throw invalidParameter('Format');
  return {
    action: parameters.get('Action') ?? '',
    version: parameters.get('Version') ?? '',
    parameters: new Map([...parameters].filter(([name]) => !protocolParameters.has(name))),
    caller,
  };
}

/** The parameters of the query and of a form in the body. */
function parametersOf({ url, headers, body }: HttpRequest): ReadonlyMap<string, string> {
  const parameters = new Map(new URL(url, 'http://ecs').searchParams);
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
    for (const [name, value] of new URLSearchParams(body)) parameters.set(name, value);
  }
  return parameters;
}

function outcomeOf(exchange: RpcExchange, { gateway, requestId }: RpcHttpContext): HttpOutcome {
  switch (exchange.kind) {
    case 'refused':
      return refusalAnswer(exchange.refusal, requestId, gateway.network.region);
    case 'lost':
      return { kind: exchange.connection };
    case 'answered':
      return jsonAnswer(200, { RequestId: requestId, ...exchange.output }, requestId);
    case 'garbled': {
      const whole = jsonAnswer(200, { RequestId: requestId, ...exchange.output }, requestId);
      return broken(whole, exchange.form);
    }
  }
}

function refusalAnswer({ code, message, status }: RpcRefusal, requestId: string, region: string): HttpAnswer {
  const content = {
    RequestId: requestId,
    HostId: `ecs.${region}.aliyuncs.com`,
    Code: code,
    Message: message,
    Recommend: `https://api.aliyun.com/troubleshoot?q=${encodeURIComponent(code)}`,
  };
  return jsonAnswer(status, content, requestId);
}

function jsonAnswer(status: number, content: JsonObject, requestId: string): HttpAnswer {
  const headers = { 'content-type': 'application/json;charset=utf-8', 'x-acs-request-id': requestId };
  return { kind: 'answer', status, headers, body: JSON.stringify(content) };
}
