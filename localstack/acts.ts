// The acts of a run, and the checks of each. Acts use only what these servers do as EC2 does: they have no limits, no
// prefixes, no pages and no throttling, never show delete-on-termination, and sometimes give one address to two
// interfaces.
import { KubernetesClient } from '../src/simulator/workload/kubernetes-client.ts';
import type { NodeView } from '../src/simulator/workload/node-view.ts';
import { givenTwice, orphaned, madeFor, madeWrongly, usedTwice } from './node-problems.ts';
import { credentials, region } from './network-plan.ts';
import { errorOf, type Play } from './play.ts';
import type { ListedInterface } from './third-party-api.ts';
import {
  addressesAskedFor,
  changes,
  countsOf,
  inWords,
  refusedElse,
  saidWrongly,
  signedWrongly,
  tokensTwice,
} from './wire-problems.ts';

export type Act = (play: Play) => Promise<void>;

/**
 * In this order: each starts from the state that the one before left, and leaves every node satisfied. An act that takes
 * addresses away belongs before the take-over, so that the second controller restores the result.
 */
export const acts: readonly Act[] = [
  nodesAreSupplied,
  podsArrive,
  subnetIsGone,
  anotherTakesOver,
  prefixesAreRead,
  wholeRunIsChecked,
];

/** The answer of both servers when an interface is created in a deleted subnet. */
const subnetGone = 'InvalidSubnetID.NotFound';

async function nodesAreSupplied(play: Play): Promise<void> {
  const { checks, testBed } = play;
  await testBed.workload.start();
  await play.startController();
  await play.settled();
  const listed = await play.listing();
  const made = play.nodes.flatMap((node) => madeFor(node, listed));
  checks.expect('interfaces were created', made.length > 0 ? [] : ['none was']);
  checks.expect(
    'each has description, tags, security groups, and a matching subnet of the zone',
    play.nodes.flatMap((node) => madeWrongly(node, listed, testBed.network)),
  );
  await play.setOnce('delete-on-termination is set once for each', 0);
  checks.expect(
    'no CiliumNode shows an error',
    play.nodes.flatMap(({ nodeName }) => errorOf(play.ciliumNode(nodeName)) ?? []),
  );
}

async function podsArrive(play: Play): Promise<void> {
  const { workload } = play.testBed;
  await workload.run({ kind: 'burst', name: 'web', at: 0, pods: 24, over: 3000 }, play.signal);
  await play.podsAreServed(24, 'pods that arrive one by one');
  await workload.run({ kind: 'burst', name: 'batch', at: 0, pods: 24, over: 0 }, play.signal);
  await play.podsAreServed(24, 'a burst of pods');
  await play.settled();
}

/** The controller knows the subnet from its last listing and asks for an interface in it. */
async function subnetIsGone(play: Play): Promise<void> {
  const { ec2, doomedSubnetId, late, workload, tap } = play.testBed;
  await ec2.deleteSubnet(doomedSubnetId);
  await workload.addNode(late);
  await play.checks.until('the server refuses an interface in the deleted subnet', () =>
    tap.calls.some(({ errorCode }) => errorCode === subnetGone) ? [] : [`no answer is ${subnetGone}`],
  );
  await play.checks.until('the refusal is read: code and message are in the log', () => {
    const read = play.lines.some(
      ({ details: { code, message } }) => code === subnetGone && String(message).includes('does not exist'),
    );
    return read ? [] : ['the log does not say so'];
  });
  await play.checks.until('the CiliumNode of that node says why the node gets nothing', () => {
    const error = errorOf(play.ciliumNode(late.name)) ?? 'nothing';
    return error.includes(doomedSubnetId) ? [] : [`it says ${error}`];
  });
  await workload.removeNode(late.name);
  await play.podOnEach('beside-it');
  await play.settled();
}

/** Between the two controllers, the server assigns an address in use to an interface of another node as well. */
async function anotherTakesOver(play: Play): Promise<void> {
  const { tap, ec2 } = play.testBed;
  await play.endController();
  const { address, interfaceId } = inUseElsewhere(play.nodes, await play.listing());
  await ec2.assign(interfaceId, address);
  const before = tap.calls.length;
  await play.startController();
  // These calls have the lowest priority: once they are sent, everything else is decided.
  await play.setOnce('a second controller sets delete-on-termination once for each attachment', before);
  play.checks.expect(
    'it restores everything and changes nothing',
    changes(tap.calls.slice(before)).map(inWords),
  );
  await play.podOnEach('under-the-second');
  await play.settled();
  await play.endController();
  play.checks.expect(
    'the server still has that address on two nodes',
    givenTwice(await play.listing()).has(address) ? [] : [`${address} is on one`],
  );
  await ec2.unassign(interfaceId, address);
}

/** These servers assign no prefix. They show every instance without one, and none that does not exist. */
async function prefixesAreRead(play: Play): Promise<void> {
  const administrator = new KubernetesClient(play.testBed.kubernetes.handle, 'administrator');
  const gone = 'gone';
  const spec = { providerID: `aws:///${region}a/i-0fffffffffffffff0` };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: gone }, spec };
  await administrator.create('/api/v1/nodes', node, play.signal);
  const names = play.nodes.map(({ nodeName }) => nodeName);
  await play.startCloudAllocator();
  await play.checks.until('CloudAllocator finds the instance of each Node, and no prefix of it', async () => {
    const reasons = await play.reasons([...names, gone]);
    return [...reasons].flatMap(([name, reason]) =>
      reason === (name === gone ? 'InstanceNotFound' : 'AliasMissing') ? [] : [`${name}: ${reason}`],
    );
  });
  await play.endController();
}

/** An address that one node uses, and an interface of another node in its subnet. */
function inUseElsewhere(
  nodes: readonly NodeView[],
  listed: readonly ListedInterface[],
): { readonly address: string; readonly interfaceId: string } {
  const made = nodes.flatMap((node) => madeFor(node, listed).map((item) => ({ node, item })));
  for (const { node, item } of made) {
    const address = item.secondaryAddresses.find((held) => node.addressesInUse.has(held));
    const other = made.find((one) => one.node !== node && one.item.subnetId === item.subnetId);
    if (address !== undefined && other !== undefined) return { address, interfaceId: other.item.id };
  }
  throw new Error('no two nodes have interfaces in one subnet');
}

async function wholeRunIsChecked(play: Play): Promise<void> {
  const { checks, testBed } = play;
  // The same server answers for STS.
  const calls = testBed.tap.calls.filter(({ action }) => action !== 'GetCallerIdentity');
  const listed = await play.listing();
  const asked = addressesAskedFor(calls);
  const held = listed.reduce((sum, { secondaryAddresses }) => sum + secondaryAddresses.length, 0);
  checks.expect(
    'the server holds as many secondary addresses as it was asked for',
    asked === held ? [] : [`${asked} were asked for, ${held} are held`],
  );
  checks.expect('every call uses the query protocol', saidWrongly(calls));
  const known = { credentials: [{ ...credentials, user: 'headwater' }], region, now: play.clock.wall() };
  checks.expect('every call is signed for EC2 and the region', signedWrongly(calls, known));
  checks.expect('every creation has a client token of its own', tokensTwice(calls));
  checks.expect('no call was refused but those for the deleted subnet', refusedElse(calls, subnetGone));
  checks.expect('no interface is orphaned', orphaned(listed));
  checks.expect('no address is used on two nodes', usedTwice(play.nodes));
  checks.expect(
    'no agent lost an address in use',
    testBed.workload.violations.map(
      ({ node, address, pod, what }) => `${node}: ${address} of ${pod}: ${what}`,
    ),
  );
  play.say(countsOf(calls));
  for (const address of givenTwice(listed)) {
    play.say(`the server gave ${address} to two interfaces, as EC2 never does: only one node offers it`);
  }
}
