// Suggests what to break while the demonstration stays up: commands to paste, and their undo.
import type { EmbeddedCluster } from '../../simulator/cluster/embedded-cluster.ts';
import { nodesOfSmallSubnet } from './chapter.ts';
import type { Running } from './demo-cloud.ts';
import { isInSmallZone, smallZone } from './demo-topology.ts';

/** `endpoint`: URL of EC2. */
type Breakable = Running & Readonly<Record<'endpoint' | 'region', string>>;

const missingPermission = {
  action: 'AssignPrivateIpAddresses',
  fault: {
    kind: 'error',
    code: 'UnauthorizedOperation',
    status: 403,
    message: 'You are not authorized to perform this operation.',
  },
} as const;

/** More than a node has at the end and less than its instance can hold, so that the node must request some. */
const enough = 50;

export function thingsToBreak(cluster: EmbeddedCluster, at: Breakable): string[] {
  const admin = `${at.endpoint}/_headwater`;
  const node = cluster.workload.views.find(({ facts }) => !isInSmallZone(facts))?.nodeName ?? '';
  const { inDeficit } = nodesOfSmallSubnet(cluster, isInSmallZone);
  const subnet = [...cluster.ec2.network.subnets.values()].find(
    ({ tags }) => tags['Name'] === smallZone.subnet,
  );
  const status = at.address === undefined ? [] : [`  curl -s http://${at.address}/status`];
  const ec2 = signedCall(cluster, at);
  return [
    ...faultsOf('EC2', admin),
    `  # 1. deny an action, and let ${node} need addresses; its status names the action`,
    `  curl -s ${admin}/faults -d '${JSON.stringify(missingPermission)}'`,
    `  ${needing(at.api, node)}`,
    ...status,
    `  curl -s -X DELETE ${admin}/faults    # permits it again`,
    `  # 2. take the last addresses of ${smallZone.subnet}, and let ${inDeficit} need some`,
    `  R=$(${ec2} -d Action=CreateSubnetCidrReservation -d SubnetId=${subnet?.id} -d Cidr=${subnet?.block} -d ReservationType=explicit | grep -o 'scr-[0-9a-f]*' | head -n 1)`,
    `  ${needing(at.api, inDeficit)}`,
    ...status,
    `  ${ec2} -d Action=DeleteSubnetCidrReservation -d SubnetCidrReservationId=$R    # frees them again`,
    ...killing(3, at.pid),
  ];
}

export interface Throttled {
  readonly cloud: string;
  /** URL of the endpoint beside the cloud. */
  readonly admin: string;
  /** The command that reaches it. */
  readonly curl: string;
  readonly action: string;
  readonly inWords: string;
  readonly pid: number | undefined;
}

/** For a cloud whose calls take more than a line of a shell. */
export function throttleAndKill({ cloud, admin, curl, action, inWords, pid }: Throttled): readonly string[] {
  return [
    ...faultsOf(cloud, admin),
    `  # 1. throttle ${inWords}, and permit them again`,
    `  ${curl} ${admin}/faults -d '${JSON.stringify({ action, fault: { kind: 'throttle' } })}'`,
    `  ${curl} -X DELETE ${admin}/faults`,
    ...killing(2, pid),
  ];
}

function faultsOf(cloud: string, admin: string): readonly string[] {
  return ['', `Things to break; the state and the faults of this ${cloud}: ${admin}/state, ${admin}/faults`];
}

function killing(number: number, pid: number | undefined): readonly string[] {
  return [`  # ${number}. kill the controller: another one follows`, `  kill -9 ${pid}`];
}

function needing(api: string, node: string): string {
  const patch = JSON.stringify({ spec: { ipam: { 'min-allocate': enough } } });
  return `curl -s -o /dev/null -X PATCH ${api}/apis/cilium.io/v2/ciliumnodes/${node} -H 'content-type: application/merge-patch+json' -d '${patch}'`;
}

/** The start of an EC2 call that curl signs. */
function signedCall({ ec2 }: EmbeddedCluster, { endpoint, region }: Breakable): string {
  const [credential] = ec2.gateway.credentials;
  return `curl -s ${endpoint} --aws-sigv4 aws:amz:${region}:ec2 -u ${credential?.accessKeyId}:${credential?.secretAccessKey} -d Version=2016-11-15`;
}
