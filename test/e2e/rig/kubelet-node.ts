// A node as real as it gets without a machine: containerd, runc and the kubelet, in network, mount and process namespaces of
// their own that end with the test, and an agent beside them as the DaemonSet of the chart runs it.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { RigChild, root } from '../../../rig/child-process.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { busyboxImage, packImage } from '../../cni/rig/busybox-image.ts';
import { cniPath, must, run } from '../../cni/rig/node-machine.ts';
import type { RealApi } from './real-api.ts';

export interface KubeletNodeOptions {
  readonly name: string;
  readonly api: RealApi;
  /** The program. */
  readonly kubelet: string;
  /** Options of the agent, besides the places of its files and its kubeconfig. */
  readonly agentFlags: readonly string[];
  /** The kubeconfig of the agent. */
  readonly agentKubeconfig: string;
}

/** Where containerd, its shims, libcni and the kubelet write whatever their options say. */
const written = ['/run', '/var/lib', '/var/log'];
/** Time limit of a wait, in ms: it ends hung tests and measures nothing. */
const patience = 60_000;

export class KubeletNode {
  readonly name: string;
  readonly directory: string;
  readonly #options: KubeletNodeOptions;
  readonly #relay: Server;
  readonly #init: RigChild;
  readonly #initId: number;
  readonly #programs: RigChild[] = [];
  #agent: RigChild | undefined;

  private constructor(options: KubeletNodeOptions, parts: Parts) {
    this.name = options.name;
    this.directory = parts.directory;
    this.#options = options;
    this.#relay = parts.relay;
    this.#init = parts.init;
    this.#initId = parts.initId;
  }

  /** Resolves once containerd serves. Nothing else runs yet. */
  static async create(options: KubeletNodeOptions): Promise<KubeletNode> {
    const directory = await mkdtemp(join(tmpdir(), 'headwater-kubelet-'));
    const { name, api } = options;
    await must('ip', 'netns', 'add', name);
    await must('ip', '-n', name, 'link', 'set', 'lo', 'up');
    // The kubelet needs an address of its own and a default route.
    await must('ip', '-n', name, 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'outside');
    await must('ip', '-n', name, 'addr', 'add', '192.168.7.1/24', 'dev', 'uplink');
    for (const link of ['uplink', 'outside']) await must('ip', '-n', name, 'link', 'set', link, 'up');
    await must('ip', '-n', name, 'route', 'add', 'default', 'via', '192.168.7.2');
    const relay = await relayTo(Number(new URL(api.url).port), join(directory, 'api.sock'));
    const script = [...written.map((place) => `mount -t tmpfs none ${place}`), 'while :; do sleep 1; done'];
    const isolated = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation=private'];
    const init = new RigChild({
      name: 'the first process of the node',
      command: 'nsenter',
      args: [`--net=/var/run/netns/${name}`, 'unshare', ...isolated, 'bash', '-ec', script.join('\n')],
      bound: true,
    });
    const node = new KubeletNode(options, { directory, relay, init, initId: await childOf(init) });
    await node.#startContainerd();
    node.#start('the relay', process.execPath, [
      '-e',
      `const { createConnection, createServer } = require('net');
      createServer((one) => {
        const other = createConnection(${JSON.stringify(join(directory, 'api.sock'))});
        for (const [from, to] of [[one, other], [other, one]])
          from.on('error', () => to.destroy()).on('close', () => to.destroy()).pipe(to);
      }).listen(${new URL(api.url).port}, '127.0.0.1');`,
    ]);
    return node;
  }

  get #socket(): string {
    return join(this.directory, 'containerd.sock');
  }

  get agent(): RigChild {
    if (this.#agent === undefined) throw new Error('no agent was started');
    return this.#agent;
  }

  async #startContainerd(): Promise<void> {
    const at = (name: string): string => JSON.stringify(join(this.directory, name));
    const lines = [
      'version = 2',
      `root = ${at('root')}`,
      `state = ${at('state')}`,
      `[grpc]\naddress = ${at('containerd.sock')}`,
      '[plugins."io.containerd.grpc.v1.cri"]',
      `sandbox_image = "${busyboxImage}"`,
      'disable_apparmor = true',
      'restrict_oom_score_adj = true',
      '[plugins."io.containerd.grpc.v1.cri".containerd]',
      'snapshotter = "native"',
      'default_runtime_name = "runc"',
      '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]',
      'runtime_type = "io.containerd.runc.v2"',
      '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]',
      'SystemdCgroup = false',
      '[plugins."io.containerd.grpc.v1.cri".cni]',
      `bin_dir = ${JSON.stringify(cniPath)}`,
      `conf_dir = ${at('net.d')}`,
    ];
    await mkdir(join(this.directory, 'net.d'));
    await writeFile(join(this.directory, 'config.toml'), lines.join('\n'));
    this.#start('containerd', 'containerd', ['--config', join(this.directory, 'config.toml')]);
    const image = await packImage(this.directory);
    await this.#until('containerd serves', () => this.#inside('ctr', '--address', this.#socket, 'version'));
    const words = [
      '--address',
      this.#socket,
      '--namespace',
      'k8s.io',
      'images',
      'import',
      '--snapshotter',
      'native',
    ];
    await this.#mustInside('ctr', ...words, image);
  }

  /** Writes the network of the pods, as the init container of the chart does. */
  async network(main: Readonly<Record<string, unknown>>): Promise<void> {
    const ipam = { type: 'headwater-ipam', socket: this.#agentSocket };
    const list = {
      cniVersion: '1.0.0',
      cniVersions: ['1.0.0', '1.1.0'],
      name: 'pods',
      plugins: [
        { ...main, ipam },
        { type: 'portmap', capabilities: { portMappings: true } },
        { type: 'headwater-ipam', ipam },
      ],
    };
    await writeFile(join(this.directory, 'net.d', '10-pods.conflist'), JSON.stringify(list));
  }

  get #agentSocket(): string {
    return join(this.directory, 'run/agent.sock');
  }

  /** Resolves once it serves. */
  async startAgent(flags: readonly string[] = []): Promise<void> {
    this.#agent = this.#start('the agent', join(root, 'bin/headwater'), [
      'agent',
      `--node-name=${this.name}`,
      `--k8s-kubeconfig-path=${this.#options.agentKubeconfig}`,
      `--socket-path=${this.#agentSocket}`,
      `--state-dir=${join(this.directory, 'agent')}`,
      ...this.#options.agentFlags,
      ...flags,
    ]);
    await this.#agent.waitForLine((line) => (line.includes('"msg":"serving"') ? line : undefined));
  }

  /** Ends it with that signal; what it was for goes on without it. */
  async endAgent(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    process.kill(await childOf(this.agent), signal);
    await this.agent.ended;
  }

  /** Resolves once the kubelet has registered the node. */
  async startKubelet(): Promise<void> {
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: `unix://${this.#socket}`,
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      cgroupDriver: 'cgroupfs',
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      failSwapOn: false,
      failCgroupV1: false,
      localStorageCapacityIsolation: false,
      makeIPTablesUtilChains: false,
      maxPods: 250,
      resolvConf: '',
      serializeImagePulls: false,
      registryPullQPS: 0,
      kubeAPIQPS: 100,
      kubeAPIBurst: 200,
      volumePluginDir: join(this.directory, 'volume-plugins'),
      podLogsDir: join(this.directory, 'logs'),
    };
    const path = join(this.directory, 'kubelet.yaml');
    await writeFile(path, stringify(config));
    this.#start('the kubelet', this.#options.kubelet, [
      `--config=${path}`,
      `--kubeconfig=${await this.#options.api.kubeconfigOfAdmin()}`,
      `--root-dir=${join(this.directory, 'kubelet')}`,
      `--hostname-override=${this.name}`,
      '--node-ip=192.168.7.1',
    ]);
    await this.#until('the kubelet has registered the node', () =>
      this.#options.api.call('GET', `/api/v1/nodes/${this.name}`).then(
        () => true,
        () => false,
      ),
    );
  }

  /** The addresses that the record of the agent has. */
  async held(): Promise<readonly string[]> {
    const { out } = await this.#ran(
      'curl',
      '-s',
      '--unix-socket',
      this.#agentSocket,
      'http://localhost/v1/ipam',
    );
    return Object.keys((JSON.parse(out) as { addresses: object }).addresses).toSorted();
  }

  /** What the program writes inside the container of a pod. */
  async inPod(
    pod: string,
    ...command: readonly string[]
  ): Promise<{ readonly code: number; readonly out: string }> {
    const ctr = ['--address', this.#socket, '--namespace', 'k8s.io'];
    const filter = `labels."io.kubernetes.pod.name"==${pod}`;
    const kind = 'labels."io.cri-containerd.kind"==container';
    const { out: ids } = await this.#ran('ctr', ...ctr, 'containers', 'list', '--quiet', `${filter},${kind}`);
    const [id = ''] = ids.trim().split('\n');
    return this.#ran(
      'ctr',
      ...ctr,
      'tasks',
      'exec',
      '--exec-id',
      `x${pod}${systemClock.monotonic()}`,
      id,
      ...command,
    );
  }

  /** The last lines of each program, for error messages. */
  get lastWords(): string {
    return this.#programs.map(({ lastWords }) => lastWords).join('\n');
  }

  async remove(): Promise<void> {
    // With the first process end all others.
    await this.#init.kill();
    for (const program of this.#programs) await program.kill();
    await new Promise((resolve) => void this.#relay.close(resolve));
    await run('ip', ['netns', 'del', this.name]);
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #start(name: string, command: string, args: readonly string[]): RigChild {
    const child = new RigChild({
      name,
      command: 'nsenter',
      args: [...this.#entering, command, ...args],
      bound: true,
    });
    this.#programs.push(child);
    return child;
  }

  get #entering(): readonly string[] {
    return ['--target', `${this.#initId}`, '--mount', '--net', '--pid'];
  }

  #ran(program: string, ...args: readonly string[]): ReturnType<typeof run> {
    return run('nsenter', [...this.#entering, program, ...args]);
  }

  async #inside(program: string, ...args: readonly string[]): Promise<boolean> {
    return (await this.#ran(program, ...args)).code === 0;
  }

  async #mustInside(program: string, ...args: readonly string[]): Promise<void> {
    const { code, err } = await this.#ran(program, ...args);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${err}`);
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = systemClock.monotonic() + patience;
    while (!(await isSo())) {
      if (systemClock.monotonic() >= end) {
        throw new Error(`it did not come about that ${what}\n${this.lastWords}`);
      }
      await sleep(systemClock, 200, new AbortController().signal);
    }
  }
}

interface Parts {
  readonly directory: string;
  readonly relay: Server;
  readonly init: RigChild;
  readonly initId: number;
}

/** Hands connections at the socket to that port of this machine: the loopback of a node is another one. */
async function relayTo(port: number, path: string): Promise<Server> {
  const server = createServer((one) => {
    const other = createConnection(port, '127.0.0.1');
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
    other.on('error', () => one.destroy()).on('close', () => one.destroy());
    one.pipe(other).pipe(one);
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  return server;
}

/** The id of the process that the child started in its namespaces. */
async function childOf(parent: RigChild): Promise<number> {
  for (;;) {
    const children = await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').catch(
      () => '',
    );
    const [id] = children.trim().split(' ');
    if (id !== undefined && id !== '') return Number(id);
    await sleep(systemClock, 20, new AbortController().signal);
  }
}
