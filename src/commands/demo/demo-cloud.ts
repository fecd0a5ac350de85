// The needs of the demonstration of a cloud: its cluster, its chapters, and how a controller and spectators reach it.
import type { Chapter, ChapterContext } from './chapter.ts';
import type { DemoCloudName } from './controller-options.ts';
import type { PicturedCloud } from './picture.ts';

export const halfOfEach = 'half of the agents of each protocol';

/** Throws for a topology that is not valid. */
export function validTopology<T>(
  read: { readonly topology: T } | { readonly problems: readonly string[] },
): T {
  if ('topology' in read) return read.topology;
  throw new Error(`the topology of the demonstration is wrong: ${read.problems.join('; ')}`);
}

/**
 * The subnets of zones: for nodes `nodes-x`, and for their pods `pods-x`, named by the last letter of the zone. Pods of the
 * small zone have 60 addresses.
 */
export function subnetsOf(zones: readonly string[], smallZone: string): readonly object[] {
  return zones.flatMap((zone, index) => [
    { name: `nodes-${zone.at(-1)}`, zone, block: `10.20.${index * 4}.0/23` },
    {
      name: `pods-${zone.at(-1)}`,
      zone,
      block: `10.20.${128 + index * 8}.0/${zone === smallZone ? 26 : 21}`,
      tags: { purpose: 'pods' },
    },
  ]);
}

export interface DemoCloud extends PicturedCloud {
  /** As options say it. */
  readonly key: DemoCloudName;
  /** Which agents the nodes have, for spectators. */
  readonly agents: string;
  /** Whether the controller releases what is in excess. */
  readonly releases: boolean;
  readonly chapters: (context: Omit<ChapterContext, 'cluster'>) => readonly Chapter[];
  /** Starts it on free ports. It may write files for its clients into the directory. */
  readonly serve: (directory: string) => Promise<ServedCloud>;
}

/** How its cluster is to be: how many nodes, drawn from what, and how fast its cloud is. */
export interface WantedCluster {
  readonly nodes: number;
  readonly seed: string;
  readonly pace: number;
}

export interface ServedCloud {
  /** Its URL, and where it is. */
  readonly place: string;
  /** How anybody gets in, as variables of the environment. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Notes on what is unlike life, besides the agents. */
  readonly notes: readonly string[];
  /** Flags by which the controller finds it. */
  readonly flags: readonly string[];
  /** Variables that the controller needs besides. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Commands that look into it. */
  readonly thingsToTry: readonly string[];
  readonly thingsToBreak: (at: Running) => readonly string[];
  readonly close: () => Promise<void>;
}

/** The parts that run beside the cloud. */
export interface Running {
  /** URL of the Kubernetes API. */
  readonly api: string;
  /** Where the controller serves its status, and its process ID. */
  readonly address: string | undefined;
  readonly pid: number | undefined;
}
