// Which subnet each node would get its next interface in, by the rules of the controller, and how much is free there. Pure.
import { chooseSecurityGroups } from '../../node/allocate/security-group-choice.ts';
import { chooseSubnet, type SubnetChoice } from '../../node/allocate/subnet-choice.ts';
import { obstacleCondition } from '../../node/conditions/plan-condition.ts';
import type { NodeRequirements } from '../../node/demand/node-requirements.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure, Subnet } from '../../providers/contract/infrastructure.ts';
import { prefixSize } from '../../providers/contract/network-interface.ts';
import { subnetSize } from '../../controller/reporting/subnet-figures.ts';
import type { AskingNode, CloudAround } from './cloud-facts.ts';
import { countedNames, type Finding, rowsAbout } from './finding.ts';

const rows = rowsAbout('subnets');

/** Below this share of its size, a subnet is nearly full: as the alert HeadwaterSubnetNearlyFull. */
const nearlyFull = 0.1;

/** A row for each group of nodes with the same choice. */
export function subnetFindings(question: CloudAround): readonly Finding[] {
  const choices = Map.groupBy(question.nodes, (node) => choiceOf(node, question));
  const obstacles: Finding[] = [];
  const chosen: Finding[] = [];
  for (const [choice, nodes] of choices) {
    if (choice.startsWith('=')) chosen.push(chosenFinding(choice.slice(1), nodes, question.infrastructure));
    else obstacles.push(rows.problem(`${countedNames(nodes, 'node')} can get no interface: ${choice}`));
  }
  return [...obstacles, ...chosen];
}

type SubnetChoosing = Pick<CloudAround, 'infrastructure' | 'limits'>;

function choose(asked: NodeRequirements, { infrastructure, limits }: SubnetChoosing): SubnetChoice {
  const known = limits.get(asked.instanceType);
  return chooseSubnet(asked, {
    infrastructure,
    free: (id) => infrastructure.subnets.get(id)?.freeAddresses ?? 0,
    fullInterface: known !== undefined && 'interfaces' in known ? known.addressesPerInterface : 2,
    minUseful: 1 + (asked.prefixDelegation ? prefixSize : 1),
  });
}

/** Subnets that nodes choose and that are full or nearly so, the fullest first, and whether some of the nodes get prefixes. */
export function tightSubnets(
  nodes: readonly AskingNode[],
  question: SubnetChoosing,
): ReadonlyMap<string, { readonly prefixes: boolean }> {
  const chosen = nodes.flatMap(({ requirements }) => {
    const { networkId, prefixDelegation: prefixes } = requirements;
    if (networkId === undefined) return [];
    const choice = choose({ ...requirements, networkId }, question);
    const ids =
      choice.kind === 'chosen'
        ? [choice.subnet.id]
        : choice.kind === 'subnetsExhausted'
          ? choice.subnetIds
          : [];
    return ids.map((id) => ({ id, prefixes }));
  });
  const { subnets } = question.infrastructure;
  const free = (id: string): number => subnets.get(id)?.freeAddresses ?? 0;
  const tight = [...Map.groupBy(chosen, ({ id }) => id)].filter(([id, of]) => {
    const subnet = subnets.get(id);
    return (
      subnet !== undefined &&
      (isNearlyFull(subnet) || (of.some(({ prefixes }) => prefixes) && free(id) <= prefixSize))
    );
  });
  const fullestFirst = tight.toSorted(([a], [b]) => free(a) - free(b) || (a < b ? -1 : 1));
  return new Map(fullestFirst.map(([id, of]) => [id, { prefixes: of.some(({ prefixes }) => prefixes) }]));
}

/** The id of the subnet after `=`, or the text of the obstacle. */
function choiceOf(
  { requirements, instanceId }: AskingNode,
  { infrastructure, interfaces, limits, words }: CloudAround,
): string {
  const { networkId } = requirements;
  if (networkId === undefined) return 'its CiliumNode names no network';
  const asked: NodeRequirements = { ...requirements, networkId };
  const choice = choose(asked, { infrastructure, limits });
  if (choice.kind !== 'chosen') return obstacleCondition(choice, words).message;
  const shown = interfaces.get(instanceId);
  const groups = chooseSecurityGroups(asked, infrastructure, { interfaces: shown ?? [] });
  // Nothing follows from the interfaces of an instance that was not read.
  const isFound =
    groups.kind === 'chosen' || (groups.kind === 'securityGroupsUnknown' && shown === undefined);
  return isFound ? `=${choice.subnet.id}` : obstacleCondition(groups, words).message;
}

function chosenFinding(id: string, nodes: readonly AskingNode[], { subnets }: Infrastructure): Finding {
  const subnet = subnets.get(id);
  if (subnet === undefined) throw new Error('a subnet that was chosen is known');
  const remedy = 'add a subnet that the nodes select, or free addresses there';
  return roomFinding(subnet, `${countedNames(nodes, 'node')} get interfaces in ${id}`, remedy);
}

/** Where machines are given their interfaces: a row for each subnet of those that were read. */
export function givenSubnetFindings(
  { subnets, unreadSubnets = new Map() }: Infrastructure,
  { remedies }: CloudWords,
): readonly Finding[] {
  const unread = [...unreadSubnets].map(([id, { code, message }]) =>
    rows.unknown(`${id} cannot be read: ${code}: ${message}`),
  );
  const read = [...subnets.values()].map((subnet) =>
    subnet.freeAddresses === 0
      ? rows.problem(`no address is left in ${subnet.id}`, remedies.fullSubnets)
      : roomFinding(subnet, `interfaces of nodes are in ${subnet.id}`, remedies.fullSubnets),
  );
  return [...unread, ...read];
}

function roomFinding(subnet: Subnet, who: string, remedy: string): Finding {
  const { cidr, zone, freeAddresses } = subnet;
  const place = zone === '' ? cidr : `${cidr}, ${zone}`;
  const found = `${who} (${place}), where ${freeAddresses} of ${subnetSize(subnet)} addresses are free`;
  return isNearlyFull(subnet) ? rows.warning(found, remedy) : rows.ok(found);
}

function isNearlyFull(subnet: Subnet): boolean {
  return subnet.freeAddresses < nearlyFull * subnetSize(subnet);
}
