// Whether the network that an option puts pods into is there, and whether its addresses can be told from those of the others. Pure.
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure, Network } from '../../providers/contract/infrastructure.ts';
import { contains, parseBlock } from '../../providers/contract/ipv4.ts';
import { type Finding, rowsAbout } from './finding.ts';

const rows = rowsAbout('pod network');

/** No row without such a network. */
export function podNetworkFindings(
  podNetworkId: string | undefined,
  { networks, networkIds, unreadNetworks }: Infrastructure,
  { options }: CloudWords,
): readonly Finding[] {
  if (podNetworkId === undefined || unreadNetworks?.has(podNetworkId) === true) return [];
  const own = networks.get(podNetworkId);
  const { podNetworkId: option = '', networkId: networkOption } = options;
  if (own === undefined)
    return networkIds.has(podNetworkId)
      ? [rows.problem(`${podNetworkId} is not shown in this account and region`, `correct ${option}`)]
      : [];
  const all = [...networks.values()].toSorted((a, b) => Number(b.id === own.id) - Number(a.id === own.id));
  const overlaps = all.flatMap((network, index) =>
    all.slice(index + 1).flatMap((other) => overlapsOf(network, other)),
  );
  if (overlaps.length > 0)
    return overlaps.map(({ text, ids }) =>
      ids.includes(own.id)
        ? rows.problem(text, `choose a network with other blocks by ${option}`)
        : rows.warning(text, `serve the nodes of one of them by ${networkOption}`),
    );
  return [rows.ok(`pods get addresses of ${podNetworkId} (${blocksOf(own).join(', ')})`)];
}

interface Overlap {
  readonly text: string;
  readonly ids: readonly string[];
}

/** Nothing routes to two places by one address, and with such a network, the fleet knows each address once. */
function overlapsOf(one: Network, other: Network): readonly Overlap[] {
  return blocksOf(one).flatMap((block) =>
    blocksOf(other)
      .filter((each) => isShared(block, each))
      .map((each) => ({
        text: `${block} of ${one.id} and ${each} of ${other.id} have addresses in common`,
        ids: [one.id, other.id],
      })),
  );
}

function blocksOf({ primaryCidr, cidrs }: Network): readonly string[] {
  return [primaryCidr, ...cidrs];
}

function isShared(one: string, other: string): boolean {
  const [a, b] = [parseBlock(one), parseBlock(other)];
  return a !== undefined && b !== undefined && (contains(a, b.first) || contains(b, a.first));
}
