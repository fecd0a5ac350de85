// The metadata service that a machine sees at a link-local address: where it is, and tokens of its identities
// (https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service).
import type { HttpAnswer, HttpRequest } from '../http-front.ts';
import { type Json, isObject, textAt } from '../workload/json.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { ArmGateway } from './arm-gateway.ts';
import { type Tokens, tokenSeconds } from './principals.ts';

/** Answers a request below `/metadata/`. The machine is the first one of the cloud. */
export function answerMetadata(request: HttpRequest, url: URL, gateway: ArmGateway): HttpAnswer {
  if (request.headers['metadata']?.toLowerCase() !== 'true') {
    return refusal(400, 'Bad request. Required metadata header not specified');
  }
  if (request.headers['x-forwarded-for'] !== undefined) {
    return refusal(400, 'Bad request. Requests must not contain an X-Forwarded-For header');
  }
  if (url.searchParams.get('api-version') === null) {
    return refusal(400, 'Bad request. api-version was not specified in the request');
  }
  const path = url.pathname.replace(/\/$/, '').replace(/^\/metadata\//, '');
  if (path === 'identity/oauth2/token') return token(url, gateway.tokens);
  if (path !== 'instance' && !path.startsWith('instance/')) return refusal(404, 'Not found');
  return instance(path, url, gateway.cloud);
}

function instance(path: string, url: URL, cloud: ArmCloud): HttpAnswer {
  let value: Json | undefined = documentOf(cloud);
  for (const part of path.split('/').slice(1)) value = isObject(value) ? value[part] : undefined;
  if (value === undefined) return refusal(404, 'Not found');
  if (url.searchParams.get('format') === 'text') {
    return typeof value === 'string'
      ? text(200, value)
      : refusal(400, 'Bad request. format=text needs a leaf');
  }
  return json(200, value);
}

function documentOf(cloud: ArmCloud): Json {
  const { environment: azEnvironment, location } = cloud;
  const [machine] = cloud.machines.current.values();
  if (machine === undefined) return { compute: { azEnvironment, location } };
  const { path, name, vmId, scaleSetId = '', model } = machine;
  const [, , subscriptionId = '', , resourceGroupName = ''] = path.split('/');
  return {
    compute: {
      azEnvironment,
      location,
      name,
      resourceGroupName,
      resourceId: path,
      subscriptionId,
      vmId,
      vmScaleSetName: cloud.scaleSets.current.get(scaleSetId)?.name ?? '',
      vmSize: textAt(model, 'properties', 'hardwareProfile', 'vmSize'),
    },
  };
}

function token({ searchParams }: URL, tokens: Tokens): HttpAnswer {
  const resource = searchParams.get('resource') ?? '';
  if (resource === '') return identityFailure('invalid_resource', 'The resource was not specified');
  const identities = tokens.principals.filter(({ identity }) => identity);
  const clientId = searchParams.get('client_id');
  const fitting = clientId === null ? identities : identities.filter((each) => each.clientId === clientId);
  const [principal] = fitting;
  if (principal === undefined) return identityFailure('invalid_request', 'Identity not found');
  if (fitting.length > 1) {
    const many = 'Multiple user assigned identities exist, please specify the clientId / resourceId';
    return identityFailure('invalid_request', many);
  }
  const { token: access_token, expires } = tokens.issue(principal, resource);
  return json(200, {
    access_token,
    client_id: principal.clientId,
    expires_in: String(tokenSeconds),
    expires_on: String(expires),
    ext_expires_in: String(tokenSeconds),
    not_before: String(expires - tokenSeconds),
    resource,
    token_type: 'Bearer',
  });
}

function identityFailure(error: string, text: string): HttpAnswer {
  return json(400, { error, error_description: text });
}

function refusal(status: number, error: string): HttpAnswer {
  return json(status, { error });
}

function json(status: number, content: Json): HttpAnswer {
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
  };
}

function text(status: number, body: string): HttpAnswer {
  return { kind: 'answer', status, headers: { 'content-type': 'text/plain' }, body };
}
