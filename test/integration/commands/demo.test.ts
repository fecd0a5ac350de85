import { afterAll, describe, expect, test } from '@jest/globals';
import {
  AssignPrivateIpAddressesCommand,
  CreateNetworkInterfaceCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { dirname } from 'node:path';
import { Child, childrenOf, endAll, isAlive } from './child.ts';

const controllers: number[] = [];
/** Log directories, which remain after a failed demonstration. */
const logs: string[] = [];

/** Once at the end, because concurrent tests share the hooks. */
afterAll(async () => {
  await endAll();
  for (const pid of controllers.filter(isAlive)) process.kill(pid, 'SIGKILL');
  for (const log of logs) await rm(log, { recursive: true, force: true });
});

interface Demonstration {
  readonly child: Child;
  readonly controller: number;
  readonly kubeconfig: string;
  readonly endpoint: string;
}

/** A small demonstration whose controller has started. */
async function begin(...more: readonly string[]): Promise<Demonstration> {
  const child = new Child(['demo', '--nodes=6', '--plain', ...more]);
  const endpoint = await child.word(/embedded EC2 on (\S+) /);
  const kubeconfig = await child.word(/embedded Kubernetes API: (\S+)/);
  logs.push(dirname(await child.word(/^its log: (\S+)$/m)));
  await child.said(/the controller leads, and knows 6 nodes/);
  const [controller, ...others] = childrenOf(child.pid);
  if (controller === undefined || others.length > 0) throw new Error('the controller is not the only child');
  controllers.push(controller);
  return { child, controller, kubeconfig, endpoint };
}

/** What must be gone after any end. */
function isGone({ child, controller, kubeconfig }: Demonstration): boolean {
  return !isAlive(child.pid) && !isAlive(controller) && !existsSync(dirname(kubeconfig));
}

interface RunningPod {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly nodeName: string };
  readonly status: { readonly podIP: string };
}

/** The first pod that has its address. */
async function firstPod({ kubeconfig }: Demonstration): Promise<RunningPod> {
  const server = /server: (\S+)/.exec(await readFile(kubeconfig, 'utf8'))?.[1];
  const watch = await fetch(`${server}/api/v1/pods?watch=1&resourceVersion=0`);
  let text = '';
  for await (const piece of watch.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    const pods = lines.map((line) => (JSON.parse(line) as { object: Partial<RunningPod> }).object);
    const running = pods.find(({ status }) => status?.podIP !== undefined);
    if (running !== undefined) return running as RunningPod;
  }
  throw new Error('no pod got an address');
}

function isWithin(address: string, cidr: string): boolean {
  const [network = '', length] = cidr.split('/');
  const block = new BlockList();
  block.addSubnet(network, Number(length));
  return block.check(address);
}

/**
 * Moves an address to an interface of its own, as a person would in the console. If the address were only freed, it could
 * go back to its node with the next assignment, before the demonstration reads again.
 */
async function takeAway({ child, endpoint }: Demonstration, address: string): Promise<void> {
  const [, accessKeyId = '', secretAccessKey = ''] = await child.said(
    /AWS_ACCESS_KEY_ID=(\S+) AWS_SECRET_ACCESS_KEY=(\S+)/,
  );
  const client = new EC2Client({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId, secretAccessKey },
  });
  // Lists of interfaces lag: they may not show a new address yet.
  const { Subnets: subnets = [] } = await client.send(new DescribeSubnetsCommand({}));
  const around = subnets.find(({ CidrBlock: block = '' }) => isWithin(address, block));
  const { NetworkInterface: other } = await client.send(
    new CreateNetworkInterfaceCommand({ SubnetId: around?.SubnetId }),
  );
  const move = new AssignPrivateIpAddressesCommand({
    NetworkInterfaceId: other?.NetworkInterfaceId,
    PrivateIpAddresses: [address],
    AllowReassignment: true,
  });
  // The demonstration may lose the answer to this call, or notice the move and end before it answers.
  for (let attempt = 0; attempt < 5; attempt++) {
    const abortSignal = AbortSignal.timeout(2000);
    const isMoved = await client.send(move, { abortSignal }).then(
      () => true,
      () => false,
    );
    if (isMoved) break;
  }
  client.destroy();
}

describe('the demonstration', () => {
  // The only one that runs to its end, which takes more than a minute.
  const whole = Promise.withResolvers<Demonstration>();

  test.concurrent('exits with code 0 and a summary, and leaves no process behind', async () => {
    whole.resolve(begin());
    const demo = await whole.promise;

    const { code, out, err } = await demo.child.ended;

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /^every pod has its address, .* and no more, and no invariant was broken \(\d+\.\d s\)$/m,
    );
    expect(out).toMatch(/^ {2}nodes {7}6 of 6 at their watermarks, 6 serving pods$/m);
    expect(out).toMatch(/^ {2}pods {8}93 served, 0 waiting/m);
    expect(out).toMatch(/, 0 detached$/m);
    expect(out).not.toContain('BROKEN');
    expect(isGone(demo)).toBe(true);
  });

  test.concurrent('shows each chapter, in order, and which options differ from the defaults', async () => {
    const { out } = await (await whole.promise).child.ended;
    const lines = out.split('\n');
    const placeOf = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));

    const inOrder = [
      /^ {2}--leader-election-lease-duration=8s +default: 15s /,
      /^== 1\. the nodes join$/,
      /^== 2\. scale-up$/,
      /^== 3\. answers get lost$/,
      /^== 4\. a subnet runs out$/,
      /^ {3}"no address is left in subnet-[0-9a-f]+ \(all in .*\): add a subnet .*, or free addresses there"$/,
      /^ {3}\(subnet-[0-9a-f]+ is pods-c\); Events say the same: SubnetsExhausted on its CiliumNode/,
      /^== 5\. scale-down$/,
      /^== 6\. SIGKILL and recovery$/,
      /^ {3}KILLED process \d+ with SIGKILL, started process \d+$/,
      /^ {3}left behind: \d+ addresses marked, \d+ ready, .*; [1-9]\d* unassigned so far$/,
      /^ {3}TAKEN OVER \d+\.\d s after the kill/,
      /^ {3}RESUMES (?:[2-9]\d|\d{3,})\.\d s later/,
      /^every pod has its address/,
    ].map(placeOf);
    const somewhere = [
      /^ {3}LOST the answer to AssignPrivateIpAddresses for ip-/,
      /^ {3}FOUND: \d+\.\d s later ip-.* shows all \d+ addresses of eni-/,
      /^ {3}SERVED: ip-/,
      /leaving: \d+ marked [1-9]\d* ready \d+ released \d+ hidden/,
    ].map(placeOf);
    expect([...inOrder, ...somewhere]).not.toContain(-1);
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  });

  test.concurrent('exits with code 1 and says so when the controller that took over is killed too', async () => {
    const demo = await begin('--seed=killed-again');
    const pid = Number(await demo.child.word(/started process (\d+)/));
    controllers.push(pid);
    await demo.child.said(/TAKEN OVER/);

    process.kill(pid, 'SIGKILL');

    const { code, out, err } = await demo.child.ended;
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^the controller was ended by SIGKILL \(\d+\.\d s\)$/m);
    expect(isGone(demo)).toBe(true);
  });

  test.concurrent('exits with code 1 and names address, pod and node when an address that a pod uses is taken away', async () => {
    const demo = await begin('--seed=taken');
    const { metadata, spec, status } = await firstPod(demo);

    await takeAway(demo, status.podIP);

    const { code, out } = await demo.child.ended;
    expect(code).toBe(1);
    expect(out).toMatch(/^an invariant was broken \(/m);
    expect(out).toContain(
      `BROKEN: ${status.podIP} is used by ${metadata.namespace}/${metadata.name} on ${spec.nodeName}, and the cloud does not hold it on i-`,
    );
    expect(isGone(demo)).toBe(true);
  });

  test.concurrent('exits with code 1 and says so when the controller is killed', async () => {
    const demo = await begin('--seed=killed');

    process.kill(demo.controller, 'SIGKILL');

    const { code, out, err } = await demo.child.ended;
    const log = /^its log: (\S+)$/m.exec(out)?.[1] ?? '';
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^the controller was ended by SIGKILL \(\d+\.\d s\)$/m);
    expect(isGone(demo)).toBe(true);
    // The log names the cause.
    expect(await readFile(log, 'utf8')).toMatch(/"msg":"leading"/);
  });

  test.concurrent.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'shuts down in good order on %s, and its controller with it',
    async (signal) => {
      const demo = await begin(`--seed=${signal}`);

      const { code, out, err } = await demo.child.stop(signal);

      expect({ code, err }).toEqual({ code: 130, err: '' });
      expect(out).toMatch(/^interrupted \(/m);
      expect(isGone(demo)).toBe(true);
    },
  );

  test.concurrent('does not count it as a failure of the controller when Ctrl-C reaches the controller too', async () => {
    const demo = await begin('--seed=both');

    process.kill(demo.controller, 'SIGINT');
    const log = await demo.child.word(/^its log: (\S+)$/m);
    const { out } = await demo.child.stop('SIGINT');

    expect(out).toMatch(/^interrupted \(/m);
    expect(isGone(demo)).toBe(true);
    expect(existsSync(log)).toBe(false);
  });

  test.concurrent('exits on a second request without waiting for a controller that hangs, and leaves no process behind', async () => {
    const demo = await begin('--seed=twice');

    process.kill(demo.controller, 'SIGSTOP');
    demo.child.signal('SIGINT');
    await demo.child.said(/^interrupted \(/m);
    const { code, err } = await demo.child.stop('SIGINT');

    expect({ code, err }).toEqual({ code: 130, err: '' });
    while (!isGone(demo)) await new Promise((resolve) => setImmediate(resolve)); // killed, not waited for
  });

  test.concurrent('exits without a stack when its reader closes the pipe, and its controller with it', async () => {
    const demo = await begin('--seed=reader');

    demo.child.hangUp();

    const { code, err } = await demo.child.ended;
    expect({ code, err }).toEqual({ code: 130, err: '' });
    expect(isGone(demo)).toBe(true);
  });
});
