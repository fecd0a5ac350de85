// An EC2 on loopback and the real SDK in front of it, for integration tests.
import { EC2Client } from '@aws-sdk/client-ec2';
import { Random } from '../../../../src/runtime/random.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { readTopology, type Topology } from '../../../../src/simulator/cloud/topology.ts';
import { createEc2, type Ec2 } from '../../../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../../../src/simulator/ec2/ec2-server.ts';

export interface Rig extends Ec2 {
  readonly url: string;
  readonly client: EC2Client;
  /** Another client of the same cloud. */
  readonly connect: (options?: { keyId?: string; secret?: string; timeout?: number }) => EC2Client;
  readonly close: () => Promise<void>;
}

/** Two zones and an instance in each; nothing takes time, lags or is throttled unless a test says so. */
export const plainCloud = `
seed: integration
credentials: [{ accessKeyId: AKIAINTEGRATION00001, secretAccessKey: integration-secret, user: tester }]
vpcs: [{ name: main, id: vpc-00000000000000001, blocks: [10.0.0.0/16], ipv6Block: '2001:db8::/56' }]
subnets:
  - { name: a, id: subnet-0000000000000000a, zone: us-east-1a, block: 10.0.0.0/24, ipv6Block: '2001:db8:0:1::/64' }
  - { name: b, id: subnet-0000000000000000b, zone: us-east-1b, block: 10.0.1.0/24 }
securityGroups: [{ name: nodes, id: sg-00000000000000001 }]
publicAddresses: [{ count: 2, tags: { pool: static } }]
instances:
  - { name: one, id: i-00000000000000001, type: m5.large, subnet: a, securityGroups: [nodes], tags: { role: node } }
  - { name: two, id: i-00000000000000002, type: m5.large, subnet: b, securityGroups: [nodes], tags: { role: node } }
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0, detachMs: 0, startMs: 0, stopMs: 0, terminateMs: 0 }
`;

export function topologyOf(text: string): Topology {
  const result = readTopology(text);
  if ('problems' in result) throw new Error(result.problems.join('\n'));
  return result.topology;
}

export async function startRig(text = plainCloud): Promise<Rig> {
  const topology = topologyOf(text);
  const ec2 = createEc2({ topology, clock: systemClock, random: new Random(topology.seed) });
  const server = await startEc2Server({ gateway: ec2.gateway, clock: systemClock, port: 0 });
  const [credential] = topology.credentials;
  const clients: EC2Client[] = [];
  const connect: Rig['connect'] = (options = {}) => {
    const client = new EC2Client({
      endpoint: server.url,
      region: topology.region,
      maxAttempts: 1,
      credentials: {
        accessKeyId: options.keyId ?? credential?.accessKeyId ?? '',
        secretAccessKey: options.secret ?? credential?.secretAccessKey ?? '',
      },
      requestHandler: { requestTimeout: options.timeout ?? 10_000, throwOnRequestTimeout: true },
    });
    clients.push(client);
    return client;
  };
  const close = async (): Promise<void> => {
    clients.forEach((client) => client.destroy());
    ec2.clock.stop();
    await server.close();
  };
  return { ...ec2, url: server.url, client: connect(), connect, close };
}

/** The code and status of the refusal that a call meets; fails when there is no refusal. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ code: string; status?: number; message: string }> {
  try {
    await call;
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    return { code: name, message, ...(status === undefined ? {} : { status }) };
  }
  throw new Error('the call was not refused');
}
