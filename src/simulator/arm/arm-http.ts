// Answers one HTTP request to Azure, without sockets: Resource Manager, the token endpoint of its authority, and the
// metadata that machines see.
import { adminPrefix } from '../admin-endpoint.ts';
import { broken, type HttpAnswer, type HttpOutcome, type HttpRequest } from '../http-front.ts';
import { isObject, type Json, type JsonObject } from '../workload/json.ts';
import { answerAdmin } from './admin.ts';
import type { ArmAnswer, ArmCall, ArmExchange } from './arm-call.ts';
import type { ArmGateway } from './arm-gateway.ts';
import { ArmRefusal, badRequest, notFound } from './arm-refusal.ts';
import { answerAuthority, isForAuthority } from './authority.ts';
import { answerMetadata } from './metadata.ts';
import { routeOf } from './router.ts';

/** Audiences of tokens for Resource Manager, besides the endpoint itself. */
const audiences = [
  'https://management.azure.com',
  'https://management.core.windows.net',
  'https://management.usgovcloudapi.net',
  'https://management.core.usgovcloudapi.net',
  'https://management.chinacloudapi.cn',
  'https://management.core.chinacloudapi.cn',
];

/** Answers one request. Never rejects because of a client. */
export async function answerArm(request: HttpRequest, gateway: ArmGateway): Promise<HttpOutcome> {
  if (request.url.startsWith(adminPrefix)) return answerAdmin(request, gateway);
  const url = urlOf(request);
  if (url.pathname.startsWith('/metadata/')) return answerMetadata(request, url, gateway);
  if (isForAuthority(url)) return answerAuthority(request, url, gateway.tokens);
  const requestId = gateway.newRequestId();
  try {
    const call = callOf(request, url, gateway);
    return outcomeOf(call, await gateway.exchange(call), gateway, requestId);
  } catch (error) {
    if (error instanceof ArmRefusal) return refusalAnswer(error, { 'x-ms-request-id': requestId });
    throw error;
  }
}

/** The URL that a client asked. */
export function urlOf({ url, headers }: HttpRequest): URL {
  return new URL(url, `https://${headers['host'] ?? 'localhost'}`);
}

/** The call that a request makes, and its caller; refuses what is not a request to Resource Manager. */
function callOf(request: HttpRequest, url: URL, gateway: ArmGateway): ArmCall {
  const { method, headers } = request;
  const caller = gateway.tokens.read(headers['authorization'], [...audiences, url.origin]);
  const path = url.pathname.replace(/\/$/, '');
  const routed = routeOf(method, path);
  if (routed === undefined) {
    throw notFound('InvalidResourceType', `The resource type could not be found for '${path}'.`);
  }
  if (routed === 'other') {
    throw new ArmRefusal('UnsupportedHttpMethod', `The http method '${method}' is not supported here.`, 405);
  }
  const apiVersion = apiVersionOf(url, gateway);
  const { operation, names } = routed;
  return {
    name: operation.name,
    parameters: { ...names, path: path.toLowerCase(), caller: caller.name },
    operation,
    caller,
    path,
    origin: url.origin,
    query: url.searchParams,
    apiVersion,
    ifMatch: headers['if-match'],
    body: bodyOf(request),
  };
}

function apiVersionOf({ searchParams }: URL, { cloud }: ArmGateway): string {
  const version = searchParams.get('api-version') ?? '';
  if (version === '') {
    throw badRequest(
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    );
  }
  if (!/^20\d\d-[01]\d-[0-3]\d(-preview)?$/.test(version)) {
    throw badRequest('InvalidApiVersionParameter', `The api-version '${version}' is invalid.`);
  }
  const { apiVersions } = cloud;
  if (apiVersions.length > 0 && !apiVersions.includes(version)) {
    throw badRequest(
      'NoRegisteredProviderFound',
      `No registered resource provider found for location '${cloud.location}' and API version '${version}'. The supported api-versions are '${apiVersions.join(', ')}'. The supported locations are '${cloud.location}'.`,
    );
  }
  return version;
}

function bodyOf({ method, body }: HttpRequest): JsonObject {
  if (method === 'GET' || method === 'DELETE' || (method === 'POST' && body === '')) return {};
  let content: Json | undefined;
  try {
    content = JSON.parse(body) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (isObject(content)) return content;
  throw badRequest('InvalidRequestContent', 'The request content was invalid and could not be deserialized.');
}

function outcomeOf(
  call: ArmCall,
  exchange: ArmExchange,
  gateway: ArmGateway,
  requestId: string,
): HttpOutcome {
  const headers = { 'x-ms-request-id': requestId, ...gateway.limits.remaining(call) };
  switch (exchange.kind) {
    case 'refused':
      return refusalAnswer(exchange.refusal, headers);
    case 'lost':
      return { kind: exchange.connection };
    case 'answered':
      return jsonAnswer(gateway, exchange.output, headers);
    case 'garbled':
      return broken(jsonAnswer(gateway, exchange.output, headers), exchange.form);
  }
}

function jsonAnswer(gateway: ArmGateway, answer: ArmAnswer, more: Record<string, string>): HttpAnswer {
  const { status, headers, body } = answer;
  return {
    kind: 'answer',
    status,
    headers: { ...json, ...headers, ...more },
    body: body === undefined ? '' : JSON.stringify(gateway.respelled(body)),
  };
}

const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' };

function refusalAnswer(refusal: ArmRefusal, more: Readonly<Record<string, string>>): HttpAnswer {
  const { code, message, status, details, headers } = refusal;
  const error = { code, message, ...(details.length > 0 && { details }) };
  return {
    kind: 'answer',
    status,
    headers: { ...json, ...more, ...headers, 'x-ms-failure-cause': 'gateway' },
    body: JSON.stringify({ error }),
  };
}
