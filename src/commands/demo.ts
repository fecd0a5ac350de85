// The command demo: a cloud, a Kubernetes API and a fleet in this process, the controller in one of its own, and a judge
// who believes neither.
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GivenFlags } from '../config/given-text.ts';
import { integer } from '../config/value-kinds.ts';
import { sleep } from '../scheduling/clock.ts';
import { Random } from '../scheduling/random.ts';
import { systemClock as clock } from '../scheduling/system-clock.ts';
import { breachesIn } from '../simulator/cluster/judge.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from '../simulator/cluster/embedded-cluster.ts';
import { startEc2Server } from '../simulator/ec2/ec2-server.ts';
import { kubeConfigFor, startKubernetesServer } from '../simulator/kubernetes/kubernetes-server.ts';
import { chaptersFor, lastMoment, lastPodAt, longestTime } from './demo/chapters.ts';
import { ControllerProcess, endInWords } from './demo/controller-process.ts';
import { inWords } from './demo/decision-words.ts';
import { demoTopology } from './demo/demo-topology.ts';
import { isSettled, type Picture, takePicture } from './demo/picture.ts';
import { liveScreen, plainScreen, type Screen } from './demo/screen.ts';
import { summaryLines, thingsToTry } from './demo/summary.ts';
import { exitCode } from './exit-code.ts';

/** Agents act faster than in life: their 15 s become 1.5 s. */
const agentPace = 10;
/** Between two looks of the judge, in ms. */
const judgeInterval = 250;

export async function demo(given: GivenFlags): Promise<number> {
  const text = given.get('nodes')?.at(-1) ?? '50';
  const nodes = integer({ least: 1, most: 200 }).parse(text);
  if (nodes === undefined) {
    process.stderr.write(
      `headwater demo: --nodes is ${JSON.stringify(text)}; accepted: a whole number from 1 to 200\n`,
    );
    return exitCode.usage;
  }
  const interrupt = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(exitCode.failure); // whoever asks twice does not want to wait
      interrupt.abort();
    });
  }
  const show = new Demonstration({
    nodes,
    seed: given.get('seed')?.at(-1) ?? 'headwater',
    keepRunning: given.has('keep-running'),
    screen: screenFor(given.has('plain')),
    interrupt: interrupt.signal,
  });
  return show.run();
}

function screenFor(plain: boolean): Screen {
  const { stdout } = process;
  const terminal = {
    write: (text: string): void => void stdout.write(text),
    // 0 stands for a size that is not known.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
  };
  return plain || !stdout.isTTY ? plainScreen(terminal) : liveScreen(terminal);
}

interface DemonstrationOptions {
  readonly nodes: number;
  readonly seed: string;
  readonly keepRunning: boolean;
  readonly screen: Screen;
  readonly interrupt: AbortSignal;
}

type Verdict =
  | { readonly kind: 'settled' }
  | { readonly kind: 'broken' }
  | { readonly kind: 'late' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'controllerEnded'; readonly why: string };

class Demonstration {
  readonly #options: DemonstrationOptions;
  readonly #cluster: EmbeddedCluster;
  readonly #region: string;
  readonly #begunAt = clock.monotonic();
  #ended: string | undefined;
  /** Lets it last longer than a demonstration that ends by itself may. */
  #unbound: () => void = () => undefined;

  constructor(options: DemonstrationOptions) {
    this.#options = options;
    const topology = demoTopology(options.nodes, options.seed);
    this.#region = topology.region;
    this.#cluster = createEmbeddedCluster({
      topology,
      clock,
      random: new Random(options.seed),
      pace: agentPace,
      configure: (facts, index) => ({
        ...facts,
        protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
        eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: index % 5 === 4 ? 1 : 0 },
      }),
    });
  }

  async run(): Promise<number> {
    const giveUp = clock.schedule(longestTime, () => {
      this.#options.screen.say('time is up: something of the demonstration did not end by itself');
      process.exit(exitCode.failure);
    });
    this.#unbound = giveUp;
    try {
      return await this.#runAll();
    } finally {
      giveUp();
    }
  }

  async #runAll(): Promise<number> {
    const { ec2, kubernetes } = this.#cluster;
    const directory = await mkdtemp(join(tmpdir(), 'headwater-demo-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    const cloud = await startEc2Server({ gateway: ec2.gateway, clock, port: 0 });
    const api = await startKubernetesServer({ model: kubernetes, clock, port: 0 });
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, kubeConfigFor({ url: api.url }));
    try {
      return await this.#perform(kubeconfig, cloud.url);
    } finally {
      await this.#cluster.workload.stop();
      await Promise.all([cloud.close(), api.close()]);
    }
  }

  async #perform(kubeconfig: string, endpoint: string): Promise<number> {
    const { screen, nodes, keepRunning } = this.#options;
    const [credential] = this.#cluster.ec2.gateway.credentials;
    if (credential === undefined) throw new Error('the cloud of the demonstration has no credentials');
    screen.say(`embedded EC2 on ${endpoint} (${this.#region}), embedded Kubernetes API: ${kubeconfig}`);
    screen.say(
      `credentials: AWS_ACCESS_KEY_ID=${credential.accessKeyId} AWS_SECRET_ACCESS_KEY=${credential.secretAccessKey}`,
    );
    await this.#cluster.workload.start();
    screen.say(
      `${nodes} nodes of mixed types, half of the agents of each protocol, ${agentPace} times faster than in life`,
    );
    const controller = new ControllerProcess({
      kubeconfig,
      endpoint,
      region: this.#region,
      ...credential,
      onLine: (line) => {
        const words = inWords(line);
        if (words !== undefined) screen.decide(words);
      },
    });
    void controller.ended.then((end) => {
      this.#ended = endInWords(end);
    });
    screen.say(`$ ${controller.command}\n`);
    try {
      return await this.#judge(controller, { kubeconfig, endpoint, keepRunning });
    } finally {
      controller.kill();
    }
  }

  async #judge(
    controller: ControllerProcess,
    at: { readonly kubeconfig: string; readonly endpoint: string; readonly keepRunning: boolean },
  ): Promise<number> {
    const { screen } = this.#options;
    const start = clock.monotonic();
    const verdict = await this.#watch(start, () => clock.monotonic() - this.#begunAt > lastMoment);
    const picture = takePicture(this.#cluster);
    const seconds = (clock.monotonic() - start) / 1000;
    screen.close();
    for (const line of summaryLines({ picture, seconds, verdict: wordsOf(verdict) })) screen.say(line);
    const advice = thingsToTry({ ...at, address: controller.address, region: this.#region });
    const heldOn = !at.keepRunning || (await this.#stayUp(advice, picture));
    const end = await controller.stop();
    if (verdict.kind !== 'settled' || !heldOn) return exitCode.failure;
    if (end.code === 0) return exitCode.fine;
    screen.say(`told to end: ${endInWords(end)}`);
    return exitCode.failure;
  }

  /** Lets the chapters happen and judges all the while. */
  async #watch(start: number, isLate: () => boolean): Promise<Verdict> {
    const { nodes, screen, interrupt } = this.#options;
    const chapters = [...chaptersFor(nodes)];
    let title = '';
    for (;;) {
      const elapsed = clock.monotonic() - start;
      while (chapters[0] !== undefined && chapters[0].at <= elapsed) {
        const chapter = chapters.shift();
        title = chapter?.title ?? title;
        if (chapter?.workload !== undefined) void this.#cluster.workload.run(chapter.workload, interrupt);
      }
      const picture = takePicture(this.#cluster);
      screen.show({ elapsed: elapsed / 1000, chapter: title, picture, decisions: [] });
      const verdict = this.#verdictOn(picture, elapsed);
      if (verdict !== undefined) return verdict;
      if (isLate()) return { kind: 'late' };
      await sleep(clock, judgeInterval, interrupt).catch(() => undefined);
    }
  }

  #verdictOn(picture: Picture, elapsed: number): Verdict | undefined {
    if (picture.breaches.length > 0) return { kind: 'broken' };
    // Before the controller: Ctrl-C ends both.
    if (this.#options.interrupt.aborted) return { kind: 'interrupted' };
    if (this.#ended !== undefined) return { kind: 'controllerEnded', why: this.#ended };
    return elapsed > lastPodAt + 2000 && isSettled(picture) ? { kind: 'settled' } : undefined;
  }

  /**
   * Until it is interrupted, or there is nothing left to look at; goes on judging. Resolves to whether everything held
   * that must.
   */
  async #stayUp(advice: readonly string[], { breaches }: Picture): Promise<boolean> {
    const { screen, interrupt } = this.#options;
    this.#unbound();
    const told = new Set(breaches.map(({ text }) => text));
    const before = told.size;
    if (this.#ended !== undefined || interrupt.aborted) return true;
    for (const line of advice) screen.say(line);
    while (!interrupt.aborted && this.#ended === undefined) {
      for (const { text } of breachesIn(this.#cluster)) {
        if (!told.has(text)) screen.say(`BROKEN: ${text}`);
        told.add(text);
      }
      await sleep(clock, judgeInterval, interrupt).catch(() => undefined);
    }
    return told.size === before;
  }
}

function wordsOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'settled':
      return 'every pod has its address, every node what its watermarks ask for, and no invariant was broken';
    case 'broken':
      return 'an invariant was broken';
    case 'late':
      return 'time is up, and not everybody has what they need';
    case 'interrupted':
      return 'interrupted';
    case 'controllerEnded':
      return verdict.why;
  }
}
