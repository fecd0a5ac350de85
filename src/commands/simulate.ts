// Runs the command simulate: serves the embedded EC2, Azure or Alibaba Cloud, or the embedded Kubernetes API, for any client.
import { readFile, writeFile } from 'node:fs/promises';
import type { RawFlags } from '../config/raw-option.ts';
import { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import {
  type AlibabaTopology,
  namesAlibaba,
  readAlibabaTopology,
} from '../simulator/alibaba/alibaba-topology.ts';
import { namesAzure, readArmTopology, type ArmTopology } from '../simulator/arm/arm-topology.ts';
import { CloudRefusal } from '../simulator/cloud/cloud-refusal.ts';
import { readTopology, type Topology } from '../simulator/cloud/topology.ts';
import { createEc2, type Ec2 } from '../simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../simulator/ec2/ec2-server.ts';
import { refusalOf } from '../simulator/ec2/refusal-of-problem.ts';
import { ciliumNodeCrd } from '../simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../simulator/kubernetes/ciliumpodippool-crd.ts';
import { KubernetesModel } from '../simulator/kubernetes/kubernetes-model.ts';
import { kubeConfigFor, startKubernetesServer } from '../simulator/kubernetes/kubernetes-server.ts';
import { exitCode } from './exit-code.ts';
import { lastOf, readFlags } from './flag-values.ts';
import { alibabaFrom, serveAlibaba } from './simulate-alibaba.ts';
import { armFrom, serveAzure } from './simulate-azure.ts';
import { portKind, usualPorts } from './simulate-description.ts';
import { askForAnother, messageOf, Misuse, type Served } from './simulate-served.ts';

export async function simulate(given: RawFlags): Promise<number> {
  const served: Served[] = [];
  try {
    const wanted = await wantedOf(given);
    for (const start of wanted) served.push(await start());
  } catch (error) {
    await Promise.all(served.map(({ close }) => close()));
    const problems = error instanceof Misuse ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`headwater simulate: ${problem}\n`);
    return error instanceof Misuse ? exitCode.usage : exitCode.failure;
  }
  const end = interrupted();
  for (const line of served.flatMap(({ lines }) => lines)) process.stdout.write(`${line}\n`);
  await end;
  await Promise.all(served.map(({ close }) => close()));
  return exitCode.fine;
}

/** Checks everything and returns what to start. */
async function wantedOf(given: RawFlags): Promise<(() => Promise<Served>)[]> {
  const path = lastOf(given, 'topology');
  const cloud = path === undefined ? undefined : await cloudAt(path);
  const random = new Random(lastOf(given, 'seed') ?? cloud?.topology.seed ?? 'headwater');
  const host = lastOf(given, 'host') ?? '127.0.0.1';
  const wanted: (() => Promise<Served>)[] = [];
  if (cloud !== undefined) wanted.push(cloudFrom(given, { cloud, host, random }));
  if (given.has('kubernetes')) {
    const port = portOf(given, 'kubernetes-port');
    const kubeconfig = lastOf(given, 'kubeconfig');
    wanted.push(() => serveKubernetes({ host, port, random, kubeconfig }));
  }
  if (wanted.length === 0) throw new Misuse('nothing to serve: give --topology, --kubernetes, or both');
  return wanted;
}

/** Builds the cloud of a topology and returns how to serve it. */
function cloudFrom(
  given: RawFlags,
  wanted: { readonly cloud: NamedCloud; readonly host: string; readonly random: Random },
): () => Promise<Served> {
  const { cloud, host, random } = wanted;
  if (cloud.name === 'ec2') {
    const { path, topology } = cloud;
    const port = portOf(given, 'ec2-port');
    const ec2 = ec2From(path, topology, random);
    return () => serveEc2({ topology, ec2, host, port });
  }
  if (cloud.name === 'alibabacloud') {
    const { path, topology } = cloud;
    const port = portOf(given, 'alibaba-cloud-port');
    const metadataPort = portOf(given, 'alibaba-cloud-metadata-port');
    const alibaba = alibabaFrom(path, topology, random);
    return () => serveAlibaba({ topology, alibaba, host, port, metadataPort });
  }
  const { path, topology } = cloud;
  const [port, metadataPort] = [portOf(given, 'azure-port'), portOf(given, 'azure-metadata-port')];
  const arm = armFrom(path, topology, random);
  const caFile = lastOf(given, 'azure-ca-file');
  return () => serveAzure({ topology, arm, host, port, metadataPort, caFile });
}

type NamedCloud =
  | { readonly name: 'ec2'; readonly path: string; readonly topology: Topology }
  | { readonly name: 'alibabacloud'; readonly path: string; readonly topology: AlibabaTopology }
  | { readonly name: 'azure'; readonly path: string; readonly topology: ArmTopology };

async function cloudAt(path: string): Promise<NamedCloud> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Misuse(`--topology is ${JSON.stringify(path)}: ${messageOf(error)}`);
  });
  if (namesAzure(text)) return { name: 'azure', path, topology: topologyOf(path, readArmTopology(text)) };
  if (namesAlibaba(text)) {
    return { name: 'alibabacloud', path, topology: topologyOf(path, readAlibabaTopology(text)) };
  }
  return { name: 'ec2', path, topology: topologyOf(path, readTopology(text)) };
}

function topologyOf<T>(
  path: string,
  read: { readonly topology: T } | { readonly problems: readonly string[] },
): T {
  if ('topology' in read) return read.topology;
  throw new Misuse(...read.problems.map((problem) => `${path}: ${onOneLine(problem)}`));
}

/** A valid topology may still not fit into its subnets. */
function ec2From(path: string, topology: Topology, random: Random): Ec2 {
  try {
    return createEc2({ topology, clock, random });
  } catch (error) {
    if (!(error instanceof CloudRefusal)) throw error;
    const { code, message } = refusalOf(error.problem, 'RunInstances');
    throw new Misuse(`${path}: EC2 would refuse to build this: ${code}: ${message}`);
  }
}

/** Parsers print the position on several lines. */
function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function portOf(given: RawFlags, name: keyof typeof usualPorts): number {
  const read = readFlags(given, { [name]: portKind });
  if (typeof read === 'string') throw new Misuse(read);
  return read[name] ?? usualPorts[name];
}

async function serveEc2(options: {
  readonly topology: Topology;
  readonly ec2: Ec2;
  readonly host: string;
  readonly port: number;
}): Promise<Served> {
  const { topology, ec2, host, port } = options;
  const { gateway } = ec2;
  const server = await startEc2Server({ gateway, clock, port, host }).catch(askForAnother('--ec2-port'));
  const [credential] = topology.credentials;
  return {
    close: async () => {
      await server.close();
      // The cloud's own timers run for up to an hour: a terminated instance stays visible.
      ec2.clock.stop();
    },
    lines: [
      `# EC2 with ${gateway.network.instances.size} instances; its state and its faults: ${server.url}/_headwater/`,
      `export AWS_ENDPOINT_URL_EC2=${server.url}`,
      `export AWS_REGION=${topology.region}`,
      ...(credential === undefined
        ? []
        : [
            `export AWS_ACCESS_KEY_ID=${credential.accessKeyId}`,
            `export AWS_SECRET_ACCESS_KEY=${credential.secretAccessKey}`,
          ]),
    ],
  };
}

async function serveKubernetes(options: {
  readonly host: string;
  readonly port: number;
  readonly random: Random;
  readonly kubeconfig: string | undefined;
}): Promise<Served> {
  const { host, port, random, kubeconfig } = options;
  const model = new KubernetesModel({
    clock,
    random: random.fork('kubernetes'),
    crds: [ciliumNodeCrd, ciliumPodIpPoolCrd],
  });
  const server = await startKubernetesServer({ model, clock, port, host }).catch(
    askForAnother('--kubernetes-port'),
  );
  const text = kubeConfigFor({ url: server.url });
  if (kubeconfig !== undefined) {
    await writeFile(kubeconfig, text).catch(async (error: unknown) => {
      await server.close();
      throw new Misuse(`--kubeconfig is ${JSON.stringify(kubeconfig)}: ${messageOf(error)}`);
    });
  }
  return {
    close: () => server.close(),
    lines:
      kubeconfig === undefined
        ? [`# the Kubernetes API on ${server.url}, for which this is a kubeconfig:`, text]
        : [`# the Kubernetes API on ${server.url}`, `export KUBECONFIG=${kubeconfig}`],
  };
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
