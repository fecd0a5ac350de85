// Clusters and clouds of the command check, in processes of their own.
import { expect } from '@jest/globals';
import { join } from 'node:path';
import { Child, type Ended, headwater, linesOf } from './child.ts';
import type { Simulated } from './simulated.ts';

export async function create(api: string, path: string, body: object): Promise<void> {
  const answer = await fetch(`${api}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
}

export function createNode(api: string, name: string, providerID: string): Promise<void> {
  return create(api, '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { providerID },
  });
}

export function flagsFor({ ec2, kubeconfig }: Simulated): readonly string[] {
  return [
    'check',
    `--k8s-kubeconfig-path=${kubeconfig}`,
    `--ec2-api-endpoint=${ec2}`,
    '--aws-region=us-east-1',
    '--cluster-name=mine',
  ];
}

/** The rows of a check, without that of the API server, whose address differs. */
export function rowsOf({ out }: Ended): readonly string[] {
  return linesOf(out).filter((line) => !line.includes('API server: '));
}

interface Row {
  readonly what: string;
  readonly found: string;
  readonly verdict: string;
}

/** Rows that are not fine. */
export function wrongIn({ out }: Ended): readonly string[] {
  const { findings } = JSON.parse(out) as { readonly findings: readonly Row[] };
  return findings.flatMap(({ verdict, what, found }) =>
    verdict === 'ok' ? [] : [`${verdict} ${what}: ${found}`],
  );
}

/** A cloud beside an API server, in a process of their own. */
export interface StagedCloud {
  readonly api: string;
  /** Where the cloud answers. */
  readonly endpoint: string;
  /** Runs the command. */
  readonly check: (...flags: readonly string[]) => Promise<Ended>;
}

/** `directory`: for its files. `topology`: the path of a file. */
export async function stageAzure(
  directory: string,
  topology = 'src/simulator/arm/examples/small.yaml',
): Promise<StagedCloud> {
  const ca = join(directory, 'azure.pem');
  const ports = ['--azure-port=0', '--azure-metadata-port=0', `--azure-ca-file=${ca}`];
  const { child, api, kubeconfig } = await simulateCloud(directory, topology, ports);
  const endpoint = await child.word(/--azure-endpoint=(\S+) /);
  const metadata = await child.word(/--azure-metadata-endpoint=(\S+)$/m);
  const flags = [
    '--ipam=azure',
    `--k8s-kubeconfig-path=${kubeconfig}`,
    `--azure-endpoint=${endpoint}`,
    `--azure-metadata-endpoint=${metadata}`,
  ];
  const environment = { ...(await environmentOf(child, 'AZURE')), NODE_EXTRA_CA_CERTS: ca };
  const check = (...more: readonly string[]): Promise<Ended> =>
    headwater(['check', ...flags, ...more], { environment });
  return { api, endpoint, check };
}

export async function stageAlibaba(
  directory: string,
  topology = 'src/simulator/alibaba/examples/small.yaml',
): Promise<StagedCloud> {
  const ports = ['--alibaba-cloud-port=0', '--alibaba-cloud-metadata-port=0'];
  const { child, api, kubeconfig } = await simulateCloud(directory, topology, ports);
  const endpoint = await child.word(/--alibaba-cloud-endpoint=(\S+) /);
  const flags = [
    '--ipam=alibabacloud',
    '--cluster-name=mine',
    `--k8s-kubeconfig-path=${kubeconfig}`,
    `--alibaba-cloud-endpoint=${endpoint}`,
    '--alibaba-cloud-region=cn-hangzhou',
  ];
  const environment = await environmentOf(child, 'ALIBABA');
  const check = (...more: readonly string[]): Promise<Ended> =>
    headwater(['check', ...flags, ...more], { environment });
  return { api, endpoint, check };
}

async function simulateCloud(
  directory: string,
  topology: string,
  more: readonly string[],
): Promise<{ readonly child: Child; readonly api: string; readonly kubeconfig: string }> {
  const kubeconfig = join(directory, 'kubeconfig');
  const kubernetes = ['--kubernetes', '--kubernetes-port=0', `--kubeconfig=${kubeconfig}`];
  const child = new Child(['simulate', '--topology', topology, ...kubernetes, ...more]);
  return { child, api: await child.word(/^# the Kubernetes API on (\S+)$/m), kubeconfig };
}

async function environmentOf(child: Child, prefix: string): Promise<Readonly<Record<string, string>>> {
  const [all = ''] = await child.said(/[^]*# the Kubernetes API on/);
  const exported = all.matchAll(/^export (\w+)=(\S+)$/gm);
  const pairs = Array.from(exported, ([, name = '', value = '']) => [name, value] as const);
  return Object.fromEntries<string>(pairs.filter(([name]) => name.startsWith(prefix)));
}

/** The resource group of the nodes in the example. */
export const azureGroup = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/mc_demo';

/** A Node and a CiliumNode for an instance of Azure. */
export async function announceAzure(api: string, name: string, id: string, ipam: object = {}): Promise<void> {
  await createNode(api, name, `azure://${id}`);
  await create(api, '/apis/cilium.io/v2/ciliumnodes', {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name },
    spec: { 'instance-id': id.toLowerCase(), ipam: { 'pre-allocate': 4, ...ipam } },
  });
}
