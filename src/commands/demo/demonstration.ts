// The demonstration: a cloud, a Kubernetes API and a fleet in this process, the controller in one of its own, and a judge
// who believes neither.
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../scheduling/clock.ts';
import { Random } from '../../scheduling/random.ts';
import { systemClock as clock } from '../../scheduling/system-clock.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { breachesIn } from '../../simulator/cluster/judge.ts';
import { startEc2Server } from '../../simulator/ec2/ec2-server.ts';
import { kubeConfigFor, startKubernetesServer } from '../../simulator/kubernetes/kubernetes-server.ts';
import { exitCode } from '../exit-code.ts';
import { chaptersFor, lastMoment, longestTime } from './chapters.ts';
import { controllerFlags, type Surroundings, unlikeDefaultLines } from './controller-options.ts';
import { ControllerSeat } from './controller-seat.ts';
import { inWords } from './decision-words.ts';
import { configureNode, demoTopology } from './demo-topology.ts';
import { DepartureWatch } from './departures.ts';
import { isSettled, type Picture, takePicture } from './picture.ts';
import type { Screen } from './screen.ts';
import { Story } from './story.ts';
import { summaryLines, thingsToTry } from './summary.ts';
import { type Verdict, wordsOf } from './verdict.ts';

/** Agents act faster than in life: their 15 s become 1.5 s. */
const agentPace = 10;
/** Between two looks of the judge, in ms. */
const judgeInterval = 250;

export interface DemonstrationOptions {
  /** 4 at least: two of them are in a zone of their own. */
  readonly nodes: number;
  readonly seed: string;
  readonly keepRunning: boolean;
  readonly screen: Screen;
  readonly interrupt: AbortSignal;
}

export class Demonstration {
  readonly #options: DemonstrationOptions;
  readonly #cluster: EmbeddedCluster;
  readonly #departures: DepartureWatch;
  readonly #region: string;
  readonly #begunAt = clock.monotonic();
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
      configure: configureNode,
    });
    this.#departures = new DepartureWatch(this.#cluster);
  }

  /** Resolves to the exit code of the process. To be called once. */
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
      return await this.#perform({ kubeconfig, endpoint: cloud.url, region: this.#region });
    } finally {
      await this.#cluster.workload.stop();
      await Promise.all([cloud.close(), api.close()]);
    }
  }

  async #perform(at: Surroundings): Promise<number> {
    const { screen, nodes } = this.#options;
    const [credential] = this.#cluster.ec2.gateway.credentials;
    if (credential === undefined) throw new Error('the cloud of the demonstration has no credentials');
    screen.say(`embedded EC2 on ${at.endpoint} (${at.region}), embedded Kubernetes API: ${at.kubeconfig}`);
    screen.say(
      `credentials: AWS_ACCESS_KEY_ID=${credential.accessKeyId} AWS_SECRET_ACCESS_KEY=${credential.secretAccessKey}`,
    );
    await this.#cluster.workload.start();
    screen.say(
      `${nodes} nodes of mixed types, half of the agents of each protocol, ${agentPace} times faster than in life`,
    );
    const seat: ControllerSeat = new ControllerSeat({
      flags: controllerFlags(at),
      ...credential,
      onLine: (line) => {
        story.hear(line);
        const words = inWords(line);
        if (words !== undefined) screen.decide(words);
      },
    });
    const story = this.#story(seat);
    screen.say(`$ ${seat.command}`);
    screen.say('options of it that are unlike the defaults, so that little time is enough:');
    for (const line of unlikeDefaultLines()) screen.say(line);
    try {
      return await this.#judge(seat, story, at);
    } finally {
      seat.kill();
    }
  }

  #story(seat: ControllerSeat): Story {
    const { screen, nodes, interrupt } = this.#options;
    const chapters = chaptersFor({
      cluster: this.#cluster,
      nodes,
      controllerPid: () => seat.pid,
      replaceController: () => seat.replace(),
      run: (workload) => void this.#cluster.workload.run(workload, interrupt),
      tell: (text) => screen.tell(`   ${text}`),
    });
    return new Story(chapters, screen);
  }

  async #judge(seat: ControllerSeat, story: Story, at: Surroundings): Promise<number> {
    const { screen, keepRunning } = this.#options;
    const start = clock.monotonic();
    const verdict = await this.#watch(seat, story, start);
    const picture = takePicture(this.#cluster, this.#departures);
    const seconds = (clock.monotonic() - start) / 1000;
    screen.close();
    for (const line of summaryLines({ picture, seconds, verdict: wordsOf(verdict) })) screen.say(line);
    const advice = thingsToTry({ ...at, address: seat.address });
    const heldOn = !keepRunning || (await this.#stayUp(seat, advice, picture));
    const badEnd = await seat.stop();
    if (verdict.kind !== 'settled' || !heldOn) return exitCode.failure;
    if (badEnd === undefined) return exitCode.fine;
    screen.say(`told to end: ${badEnd}`);
    return exitCode.failure;
  }

  /** Lets the chapters happen and judges all the while. */
  async #watch(seat: ControllerSeat, story: Story, start: number): Promise<Verdict> {
    const { screen, interrupt } = this.#options;
    for (;;) {
      const now = clock.monotonic();
      const picture = takePicture(this.#cluster, this.#departures);
      story.look(picture, now);
      screen.show({ elapsed: (now - start) / 1000, chapter: story.title, picture });
      const verdict = this.#verdictOn(picture, seat, story);
      if (verdict !== undefined) return verdict;
      if (clock.monotonic() - this.#begunAt > lastMoment) return { kind: 'late', missing: story.missing };
      await sleep(clock, judgeInterval, interrupt).catch(() => undefined);
    }
  }

  #verdictOn(picture: Picture, { ended }: ControllerSeat, { missing }: Story): Verdict | undefined {
    if (picture.breaches.length > 0) return { kind: 'broken' };
    // Before the controller: Ctrl-C ends both.
    if (this.#options.interrupt.aborted) return { kind: 'interrupted' };
    if (ended !== undefined) return { kind: 'controllerEnded', why: ended };
    return missing.length === 0 && isSettled(picture) ? { kind: 'settled' } : undefined;
  }

  /**
   * Until it is interrupted, or there is nothing left to look at; goes on judging. Resolves to whether everything held
   * that must.
   */
  async #stayUp(seat: ControllerSeat, advice: readonly string[], { breaches }: Picture): Promise<boolean> {
    const { screen, interrupt } = this.#options;
    this.#unbound();
    const told = new Set(breaches.map(({ text }) => text));
    const before = told.size;
    if (seat.ended !== undefined || interrupt.aborted) return true;
    for (const line of advice) screen.say(line);
    while (!interrupt.aborted && seat.ended === undefined) {
      for (const { text } of breachesIn(this.#cluster)) {
        if (!told.has(text)) screen.say(`BROKEN: ${text}`);
        told.add(text);
      }
      await sleep(clock, judgeInterval, interrupt).catch(() => undefined);
    }
    return told.size === before;
  }
}
