// Runs the command simulate: serves the embedded EC2, Azure or Alibaba Cloud, or the embedded Kubernetes API, for any client.
import { readFile } from 'node:fs/promises';
import type { RawFlags } from '../config/raw-option.ts';
import { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { namesAlibaba, readAlibabaTopology } from '../simulator/alibaba/alibaba-topology.ts';
import { namesAzure, readArmTopology } from '../simulator/arm/arm-topology.ts';
import { readTopology } from '../simulator/cloud/topology.ts';
import { ciliumNodeCrd } from '../simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../simulator/kubernetes/ciliumpodippool-crd.ts';
import { KubernetesModel } from '../simulator/kubernetes/kubernetes-model.ts';
import { kubeConfigFor, startKubernetesServer } from '../simulator/kubernetes/kubernetes-server.ts';
import { exitCode } from './exit-code.ts';
import { lastOf } from './flag-values.ts';
import {
  alibabaFrom,
  askForAnother,
  azureFrom,
  ec2From,
  messageOf,
  Misuse,
  type Place,
  portOf,
  type Served,
  writeOrClose,
} from './simulate-clouds.ts';

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

type Start = () => Promise<Served>;

/** Checks everything and returns what to start. */
async function wantedOf(given: RawFlags): Promise<readonly Start[]> {
  const path = lastOf(given, 'topology');
  const cloud = path === undefined ? undefined : await cloudAt(path);
  const random = new Random(lastOf(given, 'seed') ?? cloud?.seed ?? 'headwater');
  const place = { given, host: lastOf(given, 'host') ?? '127.0.0.1', random };
  const wanted = [
    ...(cloud === undefined ? [] : [cloud.from(place)]),
    ...(given.has('kubernetes') ? [kubernetesAt(place)] : []),
  ];
  if (wanted.length === 0) throw new Misuse('nothing to serve: give --topology, --kubernetes, or both');
  return wanted;
}

/** A cloud that a topology describes. `from`: builds it. */
interface DescribedCloud {
  readonly seed: string;
  readonly from: (place: Place) => Start;
}

async function cloudAt(path: string): Promise<DescribedCloud> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Misuse(`--topology is ${JSON.stringify(path)}: ${messageOf(error)}`);
  });
  if (namesAzure(text)) return described(path, readArmTopology(text), azureFrom);
  return namesAlibaba(text)
    ? described(path, readAlibabaTopology(text), alibabaFrom)
    : described(path, readTopology(text), ec2From);
}

function described<T extends { readonly seed: string }>(
  path: string,
  read: { readonly topology: T } | { readonly problems: readonly string[] },
  from: (topology: T, place: Place & { readonly path: string }) => Start,
): DescribedCloud {
  if ('problems' in read)
    throw new Misuse(...read.problems.map((problem) => `${path}: ${onOneLine(problem)}`));
  const { topology } = read;
  return { seed: topology.seed, from: (place) => from(topology, { ...place, path }) };
}

/** Parsers print the position on several lines. */
function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function kubernetesAt({ given, host, random }: Place): Start {
  const port = portOf(given, 'kubernetes-port');
  const kubeconfig = lastOf(given, 'kubeconfig');
  return async () => {
    const crds = [ciliumNodeCrd, ciliumPodIpPoolCrd];
    const model = new KubernetesModel({ clock, random: random.fork('kubernetes'), crds });
    const server = await startKubernetesServer({ model, clock, port, host }).catch(
      askForAnother('--kubernetes-port'),
    );
    const text = kubeConfigFor({ url: server.url });
    if (kubeconfig !== undefined) await writeOrClose(server, kubeconfig, { flag: '--kubeconfig', text });
    return {
      close: () => server.close(),
      lines:
        kubeconfig === undefined
          ? [`# the Kubernetes API on ${server.url}, for which this is a kubeconfig:`, text]
          : [`# the Kubernetes API on ${server.url}`, `export KUBECONFIG=${kubeconfig}`],
    };
  };
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
