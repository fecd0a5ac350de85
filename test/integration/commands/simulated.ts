// A small cloud and cluster of `headwater simulate`, in a process of their own.
import { expect } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { Child } from './child.ts';

/** Two machines in one zone; nothing takes time, lags or is throttled. `users`: access keys and their secrets. */
export function smallCloud(users: Readonly<Record<string, string>> = supplyUser): string {
  const credentials = Object.entries(users).map(([accessKeyId, secretAccessKey]) => ({
    accessKeyId,
    secretAccessKey,
    user: 'tester',
  }));
  return `
region: us-east-1
credentials: ${JSON.stringify(credentials)}
vpcs: [{ name: main, id: vpc-00000000000000001, blocks: [10.0.0.0/16] }]
subnets: [{ name: a, id: subnet-0000000000000000a, zone: us-east-1a, block: 10.0.0.0/24 }]
securityGroups: [{ name: nodes }]
instances:
  - { name: one, id: i-00000000000000001, type: m5.large, subnet: a, securityGroups: [nodes] }
  - { name: two, id: i-00000000000000002, type: m5.large, subnet: a, securityGroups: [nodes] }
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0 }
`;
}

const supplyUser = { AKIASUPPLY0000000001: 'supply-secret' };

/** The environment of a client of that cloud. */
export const supplyKeys = {
  AWS_ACCESS_KEY_ID: 'AKIASUPPLY0000000001',
  AWS_SECRET_ACCESS_KEY: 'supply-secret',
};

export interface Simulated {
  readonly child: Child;
  /** URLs. */
  readonly ec2: string;
  readonly api: string;
  /** Its path. */
  readonly kubeconfig: string;
}

/** `place`: the path prefix of its files. */
export async function simulate(place: string, cloud = smallCloud()): Promise<Simulated> {
  const [topology, kubeconfig] = [`${place}.yaml`, `${place}.kubeconfig`];
  await writeFile(topology, cloud);
  const child = new Child([
    'simulate',
    '--topology',
    topology,
    '--ec2-port=0',
    '--kubernetes',
    '--kubernetes-port=0',
    '--kubeconfig',
    kubeconfig,
  ]);
  return {
    child,
    ec2: await child.word(/^export AWS_ENDPOINT_URL_EC2=(\S+)$/m),
    api: await child.word(/^# the Kubernetes API on (\S+)$/m),
    kubeconfig: await child.word(/^export KUBECONFIG=(\S+)$/m),
  };
}

interface AnnouncedOtherwise {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** Creates a CiliumNode, as an agent does at its start. `eni`: what its section says otherwise. */
export async function announce(
  api: string,
  name: string,
  instanceId: string,
  { annotations = {}, ...eni }: AnnouncedOtherwise = {},
): Promise<void> {
  const answer = await fetch(`${api}/apis/cilium.io/v2/ciliumnodes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, annotations },
      spec: {
        'instance-id': instanceId,
        ipam: { 'pre-allocate': 4 },
        eni: {
          'instance-type': 'm5.large',
          'vpc-id': 'vpc-00000000000000001',
          'availability-zone': 'us-east-1a',
          'node-subnet-id': 'subnet-0000000000000000a',
          'first-interface-index': 0,
          ...eni,
        },
      },
    }),
  });
  expect(answer.status).toBe(201);
}

export interface Supplied extends Simulated {
  readonly controller: Child;
  /** Where it serves its status. */
  readonly port: string;
}

/** A controller that has supplied one node. `place`: the path prefix of its files. */
export async function supplied(place: string, cloud = smallCloud()): Promise<Supplied> {
  const simulated = await simulate(place, cloud);
  await announce(simulated.api, 'one', 'i-00000000000000001');
  const controller = new Child(
    [
      'run',
      `--k8s-kubeconfig-path=${simulated.kubeconfig}`,
      `--ec2-api-endpoint=${simulated.ec2}`,
      '--aws-region=us-east-1',
      '--serve-addr=127.0.0.1:0',
    ],
    { environment: supplyKeys },
  );
  const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
  await controller.said(/"node":"one".*"msg":"(?:assigned|attached) /);
  return { ...simulated, controller, port };
}
