// Whether the cloud would permit what Headwater changes there. Pure.
import { chooseSecurityGroups } from '../../node/allocate/security-group-choice.ts';
import { remedyFor } from '../../node/conditions/call-condition.ts';
import {
  isPrimaryInterface,
  type NetworkInterface,
  type Tags,
} from '../../providers/contract/network-interface.ts';
import type { Observation } from '../../providers/contract/facts.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { Rehearsal, RehearsedNode } from '../../providers/contract/rehearsal.ts';
import { instanceTag, ownershipTags } from '../../providers/orphans/ownership-tags.ts';
import { type AskingNode, interfacesIn } from './cloud-facts.ts';
import { type Finding, finding, ok } from './finding.ts';

const what = 'permissions in the cloud';

export interface RehearsalQuestion {
  readonly nodes: readonly AskingNode[];
  readonly observations: readonly Observation[];
  readonly infrastructure: Infrastructure;
  /** Tags of every interface that Headwater makes. */
  readonly tags: Tags;
}

/** A node that changes can be asked about: the first whose primary interface and security groups are known. */
export function rehearsedNode(question: RehearsalQuestion): RehearsedNode | undefined {
  const { nodes, observations, infrastructure, tags } = question;
  const interfaces = interfacesIn(observations);
  const attached = [...interfaces.values()].flat();
  for (const { instanceId, requirements } of nodes) {
    const ofInstance = interfaces.get(instanceId) ?? [];
    const primary = ofInstance.find(isPrimaryInterface);
    if (primary === undefined) continue;
    const asked = { ...requirements, networkId: primary.networkId };
    const groups = chooseSecurityGroups(asked, infrastructure, { interfaces: ofInstance });
    if (groups.kind !== 'chosen') continue;
    return {
      instanceId,
      own: attached.find(isOurs),
      subnetId: primary.subnetId,
      securityGroupIds: groups.ids,
      tags: { ...tags, ...ownershipTags(instanceId, 'headwater-check') },
    };
  }
  return undefined;
}

function isOurs(item: NetworkInterface): boolean {
  return !isPrimaryInterface(item) && item.tags[instanceTag] !== undefined;
}

export function rehearsalFindings(rehearsals: readonly Rehearsal[]): readonly Finding[] {
  const refused = rehearsals.flatMap(({ action, answer }) =>
    typeof answer === 'string' ? [] : [{ action, failure: answer }],
  );
  const actions = (wanted: Rehearsal['answer']): string =>
    rehearsals.flatMap(({ action, answer }) => (answer === wanted ? [action] : [])).join(', ');
  const [permitted, unasked] = [actions('permitted'), actions('unasked')];
  const rest = unasked === '' ? '' : `; not asked, because it could change something: ${unasked}`;
  return [
    ...refused.map(({ action, failure }) => {
      const isDenied = failure.kind === 'notAuthorized';
      const found = `${action} ${isDenied ? 'is denied' : 'was not answered'}: ${failure.code}: ${failure.message}`;
      return finding(isDenied ? 'problem' : 'unknown', what, found, remedyFor(failure));
    }),
    ...(permitted === '' ? [] : [ok(what, `a dry run permits ${permitted}${rest}`)]),
  ];
}

/** The reason why the question was not asked. */
export interface Unrehearsed {
  /** Whether the cloud has such a question. */
  readonly isAskable: boolean;
  /** Reads that failed, by their calls. */
  readonly failed: readonly string[];
  /** Whether a CiliumNode names an instance. */
  readonly hasNodes: boolean;
}

/** Where the cloud has no such question, or no node to ask it about. */
export function unrehearsed({ isAskable, failed, hasNodes }: Unrehearsed): Finding {
  const permitted = failed.length === 0 ? 'what was read is permitted; ' : '';
  if (!isAskable)
    return ok(what, `${permitted}this cloud does not say whether changes are permitted without making them`);
  if (failed.length > 0)
    return finding('unknown', what, `changes were not asked about, because ${failed.join(', ')} failed`);
  if (hasNodes)
    return finding(
      'unknown',
      what,
      'changes were not asked about, because of no node both the primary interface and the security groups are known',
    );
  return ok(what, `${permitted}changes are asked about by dry run once a CiliumNode names an instance`);
}
