// Whether Nodes and CiliumNodes belong together. Pure.
import type { CiliumNodeReading } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { Fact } from './fact.ts';
import { type Finding, rowOnAny, rowPerText, rowsAbout } from './finding.ts';
import type { ShownCiliumNode, ShownNode } from './shown-objects.ts';

const rows = rowsAbout('objects');

export interface ShownObjects {
  readonly nodes: Fact<readonly ShownNode[]>;
  readonly ciliumNodes: Fact<readonly ShownCiliumNode[]>;
  /** Nodes that their addresses tie to their instances. Default: none. */
  readonly confirmed?: ReadonlySet<string>;
}

/** `mode`: where blocks are given out, no instance matters. */
export function objectFindings(
  { nodes, ciliumNodes, confirmed = new Set() }: ShownObjects,
  mode: 'blocks' | 'instances' = 'instances',
): readonly Finding[] {
  if (nodes.kind === 'unknown' || ciliumNodes.kind === 'unknown')
    return Object.entries({ Nodes: nodes, CiliumNodes: ciliumNodes }).flatMap(([kind, fact]) =>
      fact.kind === 'unknown' ? [rows.unknown(`${kind} cannot be read: ${fact.problem}`)] : [],
    );
  const found = [
    ...withoutCounterpart(nodes.value, ciliumNodes.value),
    ...(mode === 'blocks' ? [] : instanceFindings(nodes.value, ciliumNodes.value, confirmed)),
  ];
  return found.length > 0
    ? found
    : [rows.ok(`${nodes.value.length} Nodes and ${ciliumNodes.value.length} CiliumNodes belong together`)];
}

function withoutCounterpart(
  nodes: readonly ShownNode[],
  ciliumNodes: readonly ShownCiliumNode[],
): readonly Finding[] {
  const names = new Set(nodes.map(({ name }) => name));
  const agents = new Set(ciliumNodes.map(({ name }) => name));
  const orphans = ciliumNodes.filter(({ name }) => !names.has(name));
  const silent = nodes.filter(({ name, isIgnored }) => !agents.has(name) && !isIgnored);
  return [
    ...rowOnAny(orphans, 'CiliumNode', (names) =>
      rows.warning(
        `${names} without a Node`,
        'delete those whose machine is gone: they may name an instance of another node',
      ),
    ),
    ...rowOnAny(silent, 'Node', (names) =>
      rows.warning(
        `${names} without a CiliumNode`,
        'see why the Cilium agent does not run there: it creates the CiliumNode',
      ),
    ),
  ];
}

function instanceFindings(
  nodes: readonly ShownNode[],
  ciliumNodes: readonly ShownCiliumNode[],
  confirmed: ReadonlySet<string>,
): readonly Finding[] {
  const own = new Map(nodes.map(({ name, instanceId }) => [name, instanceId]));
  const unnamed = nodes.filter(
    ({ name, instanceId, isIgnored }) => instanceId === undefined && !isIgnored && !confirmed.has(name),
  );
  const unsaid = ciliumNodes.filter(({ instanceId }) => instanceId === undefined);
  const wrong = ciliumNodes.filter(({ name, instanceId }) => {
    const ofNode = own.get(name);
    return instanceId !== undefined && ofNode !== undefined && ofNode !== instanceId;
  });
  return [
    ...rowOnAny(unnamed, 'Node', (names) =>
      rows.warning(
        `${names} without the provider ID of an instance of this cloud`,
        "let the cloud's node controller set spec.providerID, or the kubelet (--provider-id): without it, nothing verifies whose the instance is",
      ),
    ),
    ...rowOnAny(unsaid, 'CiliumNode', (names) =>
      rows.problem(
        `${names} without an instance ID`,
        'run the Cilium agents with the --ipam of this cloud: they name their instance',
      ),
    ),
    ...rowOnAny(wrong, 'CiliumNode', (names) =>
      rows.problem(
        `${names} that names another instance than its Node`,
        'delete the CiliumNode: its agent creates it again, with the instance of its machine',
      ),
    ),
    ...doubled(nodes, 'Nodes', 'remove the Node whose machine is gone'),
    ...doubled(ciliumNodes, 'CiliumNodes', 'delete the CiliumNode whose machine is gone'),
  ];
}

/** Instances that several objects name. */
function doubled(
  objects: readonly Pick<ShownCiliumNode, 'name' | 'instanceId'>[],
  kind: string,
  remedy: string,
): readonly Finding[] {
  const named = objects.filter(({ instanceId }) => instanceId !== undefined);
  return [...Map.groupBy(named, ({ instanceId }) => instanceId)]
    .filter(([, of]) => of.length > 1)
    .map(([instanceId, of]) => {
      const names = of.map(({ name }) => name).join(', ');
      return rows.problem(`several ${kind} name the instance ${instanceId}: ${names}`, remedy);
    });
}

/** CiliumNodes that no controller can serve as they are: what is wrong with their fields, or missing. */
export function unservedFindings(readings: readonly CiliumNodeReading[]): readonly Finding[] {
  const complaints = readings.flatMap((reading) => {
    if (reading.kind === 'node') {
      const { name, section, ignored } = reading.node;
      const { missing } = section;
      return missing.length === 0 || ignored ? [] : [{ name, text: `without ${missing.join(', ')}` }];
    }
    const { name, ignored, problems } = reading;
    const [first] = problems;
    const text = `cannot be read: ${first?.field}: ${first?.problem}`;
    return ignored ? [] : [{ name: sanitizedText(name), text: sanitizedText(text) }];
  });
  return rowPerText(complaints, 'CiliumNode', (text, names) =>
    rows.problem(`${names} ${text}`, 'correct the field, or restart the agent, which writes it'),
  );
}
