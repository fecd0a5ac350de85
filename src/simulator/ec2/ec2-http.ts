// Answers one HTTP request to EC2, without sockets: signature, parameters, and the text of the answer.
import type { Exchange } from './exchange.ts';
import { allActions } from './actions/all-actions.ts';
import { apiVersion, decodeParameters, encodeAnswer, encodeRefusal } from './ec2-query.ts';
import type { Ec2Gateway } from './ec2-gateway.ts';
import { Ec2Refusal } from './ec2-refusal.ts';
import { type SignedRequest, verifySignature } from './sigv4.ts';

export type HttpOutcome =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** The body is cut off after this many bytes. */
      readonly cutAt?: number;
    }
  | { readonly kind: 'drop' }
  | { readonly kind: 'hang' };

export interface HttpContext {
  readonly gateway: Ec2Gateway;
  /** The clients' wall clock in ms, for signatures. */
  readonly now: number;
  readonly requestId: string;
}

/** Answers one request to the EC2 endpoint. Never rejects because of a client. */
export async function answerEc2(request: SignedRequest, context: HttpContext): Promise<HttpOutcome> {
  const { gateway, now, requestId } = context;
  try {
    const parameters = parametersOf(request);
    const { credentials, network } = gateway;
    const credential = verifySignature(request, { credentials, region: network.region, now });
    const action = requestedAction(parameters);
    const caller = { arn: gateway.arnOf(credential) };
    return outcomeOf(action, await gateway.exchange(action, inputOf(action, parameters), caller), requestId);
  } catch (error) {
    if (error instanceof Ec2Refusal) return refusalAnswer(error, requestId);
    throw error;
  }
}

function parametersOf({ method, url, headers, body }: SignedRequest): readonly (readonly [string, string])[] {
  if (method === 'GET') return [...new URL(url, 'http://ec2').searchParams];
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
    return [...new URLSearchParams(body)];
  }
  throw new Ec2Refusal('MalformedQueryString', 'The body must be a form.');
}

function requestedAction(parameters: readonly (readonly [string, string])[]): string {
  const named = new Map(parameters);
  const action = named.get('Action');
  if (action === undefined || action === '') {
    throw new Ec2Refusal('MissingAction', 'The request must contain the parameter Action');
  }
  const version = named.get('Version') ?? '';
  if (version !== apiVersion) {
    throw new Ec2Refusal(
      'NoSuchVersion',
      `The requested version (${version}) of service AmazonEC2 does not exist`,
    );
  }
  return action;
}

/** The parameters with the action's names; the gateway refuses unknown actions. */
function inputOf(
  action: string,
  parameters: readonly (readonly [string, string])[],
): Readonly<Record<string, unknown>> {
  const shape = allActions.get(action)?.input;
  if (shape === undefined) return {};
  return decodeParameters(
    shape,
    parameters.filter(([name]) => name !== 'Action' && name !== 'Version'),
  );
}

function outcomeOf(action: string, exchange: Exchange, requestId: string): HttpOutcome {
  switch (exchange.kind) {
    case 'refused':
      return refusalAnswer(exchange.refusal, requestId);
    case 'lost':
      return { kind: exchange.connection };
    case 'answered':
      return xmlAnswer(200, encodeAnswer(action, exchange.shape, exchange.output, requestId), requestId);
    case 'garbled':
      return garbled(action, exchange, requestId);
  }
}

function garbled(
  action: string,
  exchange: Extract<Exchange, { kind: 'garbled' }>,
  requestId: string,
): HttpOutcome {
  const whole = encodeAnswer(action, exchange.shape, exchange.output, requestId);
  switch (exchange.form) {
    case 'empty':
      return xmlAnswer(200, '', requestId);
    case 'truncated':
      return { ...xmlAnswer(200, whole, requestId), cutAt: Math.floor(whole.length / 2) };
    case 'html502':
      return {
        kind: 'answer',
        status: 502,
        headers: { 'content-type': 'text/html' },
        body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>',
      };
  }
}

function refusalAnswer(refusal: Ec2Refusal, requestId: string): HttpOutcome {
  return xmlAnswer(refusal.status, encodeRefusal(refusal, requestId), requestId);
}

function xmlAnswer(
  status: number,
  body: string,
  requestId: string,
): Extract<HttpOutcome, { kind: 'answer' }> {
  const headers = {
    'content-type': 'text/xml;charset=UTF-8',
    'cache-control': 'no-cache, no-store',
    'x-amzn-requestid': requestId,
    server: 'AmazonEC2',
  };
  return { kind: 'answer', status, headers, body };
}
