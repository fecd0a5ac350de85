// Runs the demonstration: a cloud, a Kubernetes API and a fleet in this process, the controller in its own, and an
// invariant checker that trusts neither.
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../runtime/clock.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { invariantViolations } from '../../simulator/cluster/invariants.ts';
import { kubeConfigFor, startKubernetesServer } from '../../simulator/kubernetes/kubernetes-server.ts';
import { exitCode } from '../exit-code.ts';
import { alibabaCloud } from './alibaba/alibaba-cloud.ts';
import { azureCloud } from './azure/azure-cloud.ts';
import { controllerFlags, type DemoCloudName, unlikeDefaultLines } from './controller-options.ts';
import { ControllerHandle, ControllerLog, endInWords } from './controller-process.ts';
import { inWords } from './decision-words.ts';
import type { DemoCloud, ServedCloud } from './demo-cloud.ts';
import { DepartureWatch } from './departure-watch.ts';
import { ec2Cloud } from './ec2-cloud.ts';
import { summaryLines, thingsToTry } from './frame.ts';
import { isSettled, type Picture, takePicture } from './picture.ts';
import { burdenOfMachine, isTooSlow, Progress, stateOf, tooSlow, type Verdict, wordsOf } from './progress.ts';
import { Prometheus } from './prometheus.ts';
import type { Screen } from './screen.ts';
import { Story } from './story.ts';

/** Agents act faster than in production: their 15 s become 1.5 s. */
const agentPace = 10;
/** Between two invariant checks, in ms. */
const checkInterval = 250;

export interface DemonstrationOptions {
  readonly cloud: DemoCloudName;
  /** At least 4: two of them are in a zone of their own. */
  readonly nodes: number;
  readonly seed: string;
  readonly keepRunning: boolean;
  /** Whether to start a Prometheus next to it. */
  readonly prometheus: boolean;
  readonly screen: Screen;
  readonly interrupt: AbortSignal;
}

/** Where to find everything that users may inspect. */
interface Place {
  readonly cloud: ServedCloud;
  readonly kubeconfig: string;
  /** URL of the Kubernetes API. */
  readonly api: string;
  readonly log: ControllerLog;
}

const clouds = { aws: ec2Cloud, azure: azureCloud, alibaba: alibabaCloud } as const satisfies Record<
  DemoCloudName,
  unknown
>;

export class Demonstration {
  readonly #options: DemonstrationOptions;
  readonly #cloud: DemoCloud;
  readonly #departures: DepartureWatch;
  readonly #progress: Progress;
  #prometheus: Prometheus | undefined;
  #isWatching = false;
  #standsStill = false;

  constructor(options: DemonstrationOptions) {
    this.#options = options;
    const { cloud, nodes, seed } = options;
    this.#cloud = clouds[cloud]({ nodes, seed, pace: agentPace });
    this.#departures = new DepartureWatch(this.#cloud.cluster);
    this.#progress = new Progress({
      clock,
      burden: burdenOfMachine,
      onStandstill: (times) => this.#onStandstill(times),
    });
  }

  /** Resolves to the exit code of the process. Call it once. */
  async run(): Promise<number> {
    try {
      return await this.#runAll();
    } finally {
      this.#progress.lift();
    }
  }

  /** The story ends in good order, with its summary; what hangs outside it, or a second time, does not. */
  #onStandstill(times: number): void {
    this.#standsStill = true;
    if (this.#isWatching && times === 1) return;
    this.#options.screen.printLine(tooSlow('a part of the demonstration did not end'));
    process.exit(exitCode.tooSlow);
  }

  async #runAll(): Promise<number> {
    const { kubernetes, workload } = this.#cloud.cluster;
    const directory = await mkdtemp(join(tmpdir(), 'headwater-demo-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    const cloud = await this.#cloud.serve(directory);
    const api = await startKubernetesServer({ model: kubernetes, clock, port: 0 });
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, kubeConfigFor({ url: api.url }));
    try {
      if (this.#options.prometheus) await this.#startPrometheus(directory);
      const log = await ControllerLog.create();
      return await this.#perform({
        kubeconfig,
        cloud,
        api: api.url,
        log,
      });
    } finally {
      this.#prometheus?.kill();
      await workload.stop();
      await Promise.all([cloud.close(), api.close()]);
    }
  }

  async #startPrometheus(directory: string): Promise<void> {
    const { screen } = this.#options;
    const started = await Prometheus.start({ directory, clock });
    if ('missing' in started) {
      screen.printLine(`no Prometheus: ${started.missing} (Debian and Ubuntu: apt-get install prometheus)`);
      return;
    }
    this.#prometheus = started;
    screen.printLine(`Prometheus: ${started.url} (alerts: ${started.url}/alerts)`);
  }

  async #perform(at: Place): Promise<number> {
    const { screen, nodes } = this.#options;
    const { key, name, cluster } = this.#cloud;
    const { place, credentials, notes, flags, environment } = at.cloud;
    screen.printLine(`embedded ${name} on ${place}, embedded Kubernetes API: ${at.kubeconfig}`);
    const variables = Object.entries(credentials).map(([variable, value]) => `${variable}=${value}`);
    screen.printLine(`credentials: ${variables.join(' ')}`);
    await cluster.workload.start();
    screen.printLine(
      `${nodes} nodes of mixed types, ${this.#cloud.agents}, ${agentPace} times faster than in life`,
    );
    for (const note of notes) screen.printLine(note);
    const entry: ControllerHandle = new ControllerHandle({
      flags: controllerFlags(key, [`--k8s-kubeconfig-path=${at.kubeconfig}`, ...flags]),
      environment: { ...credentials, ...environment },
      onText: (text) => at.log.write(text),
      onLine: (line) => {
        story.onLogLine(line);
        const words = inWords(line);
        if (words !== undefined) screen.decide(words);
      },
    });
    const story = this.#story(entry);
    screen.printLine(`$ ${entry.command}`);
    screen.printLine(`its log: ${at.log.path}`);
    screen.printLine('options of it that are unlike the defaults, so that little time is enough:');
    for (const line of unlikeDefaultLines(key)) screen.printLine(line);
    try {
      return await this.#play(entry, story, at);
    } finally {
      entry.kill();
    }
  }

  #story(entry: ControllerHandle): Story {
    const { screen, nodes, interrupt } = this.#options;
    const chapters = this.#cloud.chapters({
      nodes,
      controllerPid: () => entry.pid,
      replaceController: () => entry.replace(),
      run: (workload) => void this.#cloud.cluster.workload.run(workload, interrupt),
      report: (text) => screen.report(`   ${text}`),
    });
    return new Story(chapters, screen);
  }

  async #play(entry: ControllerHandle, story: Story, at: Place): Promise<number> {
    const { screen, keepRunning } = this.#options;
    const start = clock.monotonic();
    this.#isWatching = true;
    const verdict = await this.#watch(entry, story, start);
    this.#isWatching = false;
    this.#progress.note(verdict.kind);
    const picture = this.#picture();
    const seconds = (clock.monotonic() - start) / 1000;
    screen.close();
    for (const line of summaryLines({ picture, seconds, verdict: wordsOf(verdict, this.#cloud.releases) }))
      screen.printLine(line);
    const { address, pid } = entry;
    const advice = [
      ...thingsToTry({
        kubeconfig: at.kubeconfig,
        address,
        log: at.log.path,
        prometheus: this.#prometheus?.url,
        cloud: at.cloud.thingsToTry,
      }),
      ...at.cloud.thingsToBreak({ api: at.api, address, pid }),
    ];
    const heldOn = !keepRunning || (await this.#stayUp(entry, advice, picture));
    const badEnd = await entry.stop();
    if (verdict.kind === 'interrupted') return exitCode.interrupted;
    if (isTooSlow(verdict) && heldOn) return exitCode.tooSlow;
    if (verdict.kind !== 'settled' || !heldOn) return exitCode.failure;
    if (badEnd === undefined) return exitCode.fine;
    screen.printLine(`shut down: ${badEnd}`);
    return exitCode.failure;
  }

  #picture(): Picture {
    return takePicture(this.#cloud, this.#departures);
  }

  /** Plays the chapters and checks the invariants throughout. */
  async #watch(entry: ControllerHandle, story: Story, start: number): Promise<Verdict> {
    const { screen, interrupt } = this.#options;
    for (;;) {
      const now = clock.monotonic();
      await this.#prometheus?.follow(entry.address);
      const picture = this.#picture();
      story.update(picture, now);
      screen.show({ elapsed: (now - start) / 1000, chapter: story.title, picture });
      const verdict = this.#verdictOn(picture, entry, story);
      if (verdict !== undefined) return verdict;
      if (this.#standsStill) return { kind: 'standstill', missing: story.missing };
      this.#progress.note(stateOf(picture, story.missing));
      await sleep(clock, checkInterval, interrupt).catch(() => undefined);
    }
  }

  #verdictOn(picture: Picture, { ended }: ControllerHandle, { missing }: Story): Verdict | undefined {
    if (picture.violations.length > 0) return { kind: 'broken' };
    // Checked before the controller's exit: Ctrl-C ends both.
    if (this.#options.interrupt.aborted) return { kind: 'interrupted' };
    if (ended !== undefined)
      return {
        kind: ended.lostLease === undefined ? 'controllerEnded' : 'starved',
        why: endInWords(ended),
      };
    return missing.length === 0 && isSettled(picture, this.#cloud.releases) ? { kind: 'settled' } : undefined;
  }

  /**
   * Keeps checking until the interrupt, or until nothing remains to inspect. Resolves to whether all invariants held.
   */
  async #stayUp(
    entry: ControllerHandle,
    advice: readonly string[],
    { violations }: Picture,
  ): Promise<boolean> {
    const { screen, interrupt } = this.#options;
    this.#progress.lift();
    const reported = new Set(violations.map(({ text }) => text));
    const before = reported.size;
    if (entry.ended !== undefined || interrupt.aborted) return true;
    for (const line of advice) screen.printLine(line);
    entry.replaceWhenKilled((pid) =>
      screen.printLine(
        `the controller was killed: process ${pid} follows, and leads when the Lease of the dead one ends`,
      ),
    );
    let { address } = entry;
    while (!interrupt.aborted && entry.ended === undefined) {
      this.#reportViolations(reported);
      address = await this.#follow(entry, address);
      await sleep(clock, checkInterval, interrupt).catch(() => undefined);
    }
    return reported.size === before;
  }

  #reportViolations(reported: Set<string>): void {
    for (const { text } of invariantViolations(this.#cloud.cluster)) {
      if (!reported.has(text)) this.#options.screen.printLine(`BROKEN: ${text}`);
      reported.add(text);
    }
  }

  /** Prints where the controller serves its status if that changed, and points Prometheus there. */
  async #follow({ address }: ControllerHandle, before: string | undefined): Promise<string | undefined> {
    if (address === undefined || address === before) return before;
    this.#options.screen.printLine(`it serves its status on http://${address}/status`);
    await this.#prometheus?.follow(address);
    return address;
  }
}
