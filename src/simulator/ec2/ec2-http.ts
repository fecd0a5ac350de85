// Answers one HTTP request to EC2, without sockets: signature, parameters, and the text of the answer.
import { broken, type HttpAnswer, type HttpOutcome } from '../http-front.ts';
import { allActions } from './actions/all-actions.ts';
import { apiVersion, decodeParameters, encodeAnswer, encodeRefusal } from './ec2-query.ts';
import type { Ec2Answer, Ec2Exchange } from './ec2-answer.ts';
import type { Ec2Gateway } from './ec2-gateway.ts';
import { Ec2Refusal } from './ec2-refusal.ts';
import { type SignedRequest, verifySignature } from './sigv4.ts';

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

function outcomeOf(action: string, exchange: Ec2Exchange, requestId: string): HttpOutcome {
  switch (exchange.kind) {
    case 'refused':
      return refusalAnswer(exchange.refusal, requestId);
    case 'lost':
      return { kind: exchange.connection };
    case 'answered':
      return fullAnswer(action, exchange.output, requestId);
    case 'garbled':
      return broken(fullAnswer(action, exchange.output, requestId), exchange.form);
  }
}

function fullAnswer(action: string, { shape, members }: Ec2Answer, requestId: string): HttpAnswer {
  return xmlAnswer(200, encodeAnswer(action, shape, members, requestId), requestId);
}

function refusalAnswer(refusal: Ec2Refusal, requestId: string): HttpOutcome {
  return xmlAnswer(refusal.status, encodeRefusal(refusal, requestId), requestId);
}

function xmlAnswer(status: number, body: string, requestId: string): HttpAnswer {
  const headers = {
    'content-type': 'text/xml;charset=UTF-8',
    'cache-control': 'no-cache, no-store',
    'x-amzn-requestid': requestId,
    server: 'AmazonEC2',
  };
  return { kind: 'answer', status, headers, body };
}
