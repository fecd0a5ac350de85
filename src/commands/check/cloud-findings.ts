// Whether the cloud answers, lets Headwater read, and shows the instances that the cluster names. Pure.
import { remedyFor } from '../../node/conditions/call-condition.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { ReadCloud, CloudRead } from './cloud-facts.ts';
import { countedNames, type Finding, rowOnAny, rowsAbout } from './finding.ts';

const cloud = rowsAbout('cloud');
const orphans = rowsAbout('orphans');
const instance = rowsAbout('instances');

/** `collects`: whether a controller with these options deletes them. */
export function orphanFindings(
  { detached, others }: Pick<ReadCloud, 'detached' | 'others'>,
  collects: boolean,
): readonly Finding[] {
  if (detached.kind !== 'read' || detached.value.length === 0) return [];
  const ids = detached.value.map(({ id }) => id);
  const found = `${countedNames(ids, 'interface')} with the tags of this cluster ${ids.length === 1 ? 'is' : 'are'} attached to no instance`;
  const elsewhere = others.kind === 'read' ? others.value : [];
  if (elsewhere.length > 0)
    return [
      orphans.warning(
        `${found}; some were made for ${countedNames(elsewhere, 'instance')}, which run and are no nodes of this cluster: another cluster may have the same tags`,
        'set --cluster-name, or --eni-gc-tags, to what no other cluster of the account has: interfaces with these tags are used again or deleted',
      ),
    ];
  return [
    collects
      ? orphans.ok(`${found}: Headwater uses them again, or deletes them`)
      : orphans.warning(found, 'delete them, or let Headwater do it: see --eni-gc-interval'),
  ];
}

export function cloudFindings(facts: ReadCloud, words: CloudWords): readonly Finding[] {
  const { place, reached, instances } = facts;
  if (reached.kind === 'failed') return [failed(reached)];
  return [
    cloud.ok(`it answers: ${place}`),
    ...onceEach(failuresIn(facts)).map(failed),
    ...instanceFindings(instances, words),
  ];
}

type FailedRead = Extract<CloudRead<unknown>, { kind: 'failed' }>;

/** Parts of a cloud that answers which could not be read. */
export function failuresIn({
  infrastructure,
  instances,
  limits,
  detached,
}: Omit<ReadCloud, 'place' | 'reached'>): readonly FailedRead[] {
  const failures = [infrastructure, instances, limits, detached].filter((read) => read.kind === 'failed');
  return [...failures, ...deniedParts(infrastructure)];
}

/** Several reads take the same call. */
function onceEach(failures: readonly FailedRead[]): readonly FailedRead[] {
  const groups = Map.groupBy(failures, ({ failure: { action, code, kind } }) => `${action} ${code} ${kind}`);
  return [...groups.values()].flatMap(([first]) => first ?? []);
}

/** A denial is certain; anything else may pass. */
function failed({ failure, remedy }: FailedRead): Finding {
  const { action, code, message, permission, kind } = failure;
  const rows = permission === undefined ? cloud : rowsAbout('permissions in the cloud');
  const verdict = kind === 'notAuthorized' ? 'problem' : 'unknown';
  return rows[verdict](`${action} failed: ${code}: ${message}`, remedy);
}

/** Facts that few nodes need may be denied while everything else is read. */
function deniedParts(infrastructure: ReadCloud['infrastructure']): readonly FailedRead[] {
  if (infrastructure.kind !== 'read') return [];
  const { denied = {}, unreadNetworks, unreadTags } = infrastructure.value;
  const parts = [denied.routeTables, denied.securityGroups, unreadNetworks, unreadTags];
  const failures = parts.flatMap((part) => [...(part?.values() ?? [])].slice(0, 1));
  return failures.map((failure) => ({
    kind: 'failed',
    failure,
    remedy: failure.permission === undefined ? undefined : remedyFor(failure),
  }));
}

function instanceFindings(
  instances: ReadCloud['instances'],
  { remedies, options }: CloudWords,
): readonly Finding[] {
  if (instances.kind !== 'read') return [];
  const found = instances.value.flatMap((each) => (each.kind === 'instance' ? [each.instance] : []));
  const shown = new Set(
    instances.value.flatMap((each) =>
      each.kind === 'interface' ? [each.interface.attachment?.instanceId ?? ''] : [],
    ),
  );
  const gone = found.filter(
    ({ state, id, managed }) => state === 'terminated' || (state === 'unknown' && managed && !shown.has(id)),
  );
  const outside = found.filter(({ managed }) => !managed);
  const ids = (of: typeof found): readonly string[] => of.map(({ id }) => id);
  return [
    ...rowOnAny(ids(gone), 'instance', (names) =>
      instance.problem(`the cloud does not show ${names} that CiliumNodes name`, remedies.unseenInstance),
    ),
    ...rowOnAny(ids(outside), 'instance', (names) =>
      instance.warning(
        `${names} ${outside.length === 1 ? 'is' : 'are'} not served: each ${options.exclusion}`,
      ),
    ),
    ...(gone.length === 0 && shown.size > 0
      ? [instance.ok(`the cloud shows the ${shown.size} that were looked at`)]
      : []),
  ];
}
