// The metadata service that an instance sees at a link-local address: where it is, and keys of its role
// (https://help.aliyun.com/document_detail/108460.html).
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { HttpAnswer, HttpRequest } from '../http-front.ts';
import type { AlibabaGateway } from './alibaba-gateway.ts';
import type { Credential } from './rpc-signature.ts';

const root = '/latest/meta-data/';
const tokenPath = '/latest/api/token';
/** Any text does: the model keeps no sessions. */
const sessionToken = 'aGVhZHdhdGVy';
const roles = 'ram/security-credentials/';
/** How long keys of a role are said to be valid. */
const validMs = 6 * 3_600_000;

/** Answers one request. The instance is the first one of the cloud. `now`: the clients' wall clock in ms. */
export function answerMetadata(request: HttpRequest, gateway: AlibabaGateway, now: number): HttpAnswer {
  const path = request.url.split('?')[0] ?? '';
  if (path === tokenPath) return sessionAnswer(request);
  const token = request.headers['x-aliyun-ecs-metadata-token'];
  if (token !== undefined && token !== sessionToken) return text(401, 'Unauthorized');
  if (request.method !== 'GET') return text(405, 'Method Not Allowed');
  if (!path.startsWith(root)) return text(404, 'Not Found');
  const found = valueAt(path.slice(root.length), gateway, now);
  return found === undefined ? text(404, 'Not Found') : text(200, found);
}

function sessionAnswer({ method, headers }: HttpRequest): HttpAnswer {
  if (method !== 'PUT') return text(405, 'Method Not Allowed');
  const seconds = Number(headers['x-aliyun-ecs-metadata-token-ttl-seconds'] ?? '');
  const isRight = Number.isInteger(seconds) && seconds >= 1 && seconds <= 21_600;
  return isRight ? text(200, sessionToken) : text(400, 'Bad Request');
}

function valueAt(name: string, gateway: AlibabaGateway, now: number): string | undefined {
  if (!name.startsWith(roles)) return factsOf(gateway.network)[name.replace(/\/$/, '')];
  const temporary = gateway.credentials.filter(({ securityToken }) => securityToken !== undefined);
  const role = name.slice(roles.length);
  if (role === '') return temporary[0]?.user;
  const credential = temporary.find(({ user }) => user === role);
  return credential && keysOf(credential, now);
}

function factsOf(network: CloudNetwork): Readonly<Partial<Record<string, string>>> {
  const [instance] = network.instances.values();
  if (instance === undefined) return { 'region-id': network.region };
  const primary = network.interfaces.get(instance.interfaceIds[0] ?? '');
  const subnet = network.subnets.get(instance.subnetId);
  return {
    'region-id': network.region,
    'zone-id': instance.zone,
    'instance-id': instance.id,
    'instance/instance-type': instance.type,
    'instance/instance-name': instance.name,
    'owner-account-id': network.account,
    'vpc-id': instance.vpcId,
    'vpc-cidr-block': network.all('vpcs').get(instance.vpcId)?.blocks[0]?.block,
    'vswitch-id': instance.subnetId,
    'vswitch-cidr-block': subnet?.block,
    'private-ipv4': instance.primaryAddress,
    mac: primary?.mac,
  };
}

function keysOf({ accessKeyId, accessKeySecret, securityToken }: Credential, now: number): string {
  const shown = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  return JSON.stringify({
    AccessKeyId: accessKeyId,
    AccessKeySecret: accessKeySecret,
    SecurityToken: securityToken,
    Expiration: shown(now + validMs),
    LastUpdated: shown(now),
    Code: 'Success',
  });
}

function text(status: number, body: string): HttpAnswer {
  return { kind: 'answer', status, headers: { 'content-type': 'text/plain' }, body };
}
