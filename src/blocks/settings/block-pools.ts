// Reads the options that say which networks blocks come from, and checks them. Pure.
import { BlockSet, blockShape } from '../set/block-set.ts';
import { type Cidr, cidrText, families, type Family, familyNames, overlaps, parseCidr } from '../set/cidr.ts';
import { poolSpecProblems } from './pool-spec-problems.ts';
import type { ReadValues, RoomChecks } from '../../config/load-options.ts';
import { type OptionNeed, optionNeeds } from '../../config/option-needs.ts';
import type { OptionScope } from '../../config/option-scope.ts';
import {
  type OptionRefusal,
  type OptionSources,
  refusalLine,
  sourceInWords,
} from '../../config/option-source.ts';
import type { OptionWarning } from '../../config/option-warnings.ts';
import { type OptionName, type Options, propertyOf } from '../../config/option-table.ts';

/** A network, and the prefix length of its blocks. */
export interface BlockPool {
  readonly cidr: Cidr;
  readonly maskSize: number;
}

export interface BlockSettings {
  readonly pools: readonly BlockPool[];
  /** Networks whose blocks are not given out. */
  readonly reserved: readonly Cidr[];
}

/** A scope in which blocks are given to nodes. */
type BlockScope = Exclude<OptionScope, 'cloud' | 'multi-pool' | 'agent'>;

interface Given {
  readonly option: OptionName;
  readonly text: string;
  readonly cidr: Cidr;
  readonly hasHostBits: boolean;
}

/** The networks of the scope. Call it with options that were accepted. */
export function blockSettings(options: Options, scope: BlockScope): BlockSettings {
  const pools = poolOptions[scope].flatMap((name) =>
    readAll(name, options).map(({ cidr }) => ({ cidr, maskSize: maskSizeOf(scope, cidr.family, options) })),
  );
  const reserved = scope === 'nodeipam' ? serviceOptions.flatMap((name) => readAll(name, options)) : [];
  return { pools, reserved: reserved.map(({ cidr }) => cidr) };
}

const poolOptions = {
  'cluster-pool': ['cluster-pool-ipv4-cidr', 'cluster-pool-ipv6-cidr'],
  nodeipam: ['cluster-cidr'],
} as const satisfies Record<BlockScope, readonly OptionName[]>;

const serviceOptions = ['service-cluster-ip-range', 'secondary-service-cluster-ip-range'] as const;

/** Those that name networks. */
function networkOptions(scope: BlockScope): readonly OptionName[] {
  return scope === 'nodeipam' ? [...poolOptions.nodeipam, ...serviceOptions] : poolOptions[scope];
}

const ofFamily = {
  ipv4: {
    enable: 'enable-ipv4',
    cidr: 'cluster-pool-ipv4-cidr',
    need: optionNeeds.ipv4Network,
  },
  ipv6: {
    enable: 'enable-ipv6',
    cidr: 'cluster-pool-ipv6-cidr',
    need: optionNeeds.ipv6Network,
  },
} as const;

const sizeOptions = {
  'cluster-pool': { ipv4: 'cluster-pool-ipv4-mask-size', ipv6: 'cluster-pool-ipv6-mask-size' },
  nodeipam: { ipv4: 'node-cidr-mask-size-ipv4', ipv6: 'node-cidr-mask-size-ipv6' },
} as const;

const sizeNames: readonly OptionName[] = [
  'node-cidr-mask-size',
  ...Object.values(sizeOptions).flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6]),
];

/** The lengths that decide how many blocks there are. */
const roomNames: readonly OptionName[] = [...sizeNames, ...poolOptions.nodeipam, ...serviceOptions];

function maskSizeOf(scope: keyof typeof sizeOptions, family: Family, options: Options): number {
  const plain = scope === 'nodeipam' ? options.nodeCidrMaskSize : undefined;
  return plain ?? options[propertyOf(sizeOptions[scope][family]) as 'nodeCidrMaskSizeIpv4'];
}

function textsOf(name: OptionName, options: Options): readonly string[] {
  return options[propertyOf(name)] as readonly string[];
}

function readAll(option: OptionName, options: Options): readonly Given[] {
  return textsOf(option, options).flatMap((text) => {
    const reading = parseCidr(text);
    return reading.kind === 'cidr' ? [{ option, text, ...reading }] : [];
  });
}

/** The checks of every controller. Those of clouds have no option of blocks. */
export const blockChecks: RoomChecks = { problems: blockProblems, warnings: blockWarnings };

function blockProblems({ options, sources, scope, refused }: ReadValues): readonly string[] {
  if (scope === 'cloud' || scope === 'agent') return [];
  if (scope === 'multi-pool') return poolSpecProblems(options, sources);
  const checks = new BlockChecks({ options, sources, refused }, scope);
  const own = scope === 'cluster-pool' ? checks.ofClusterPool() : checks.ofNodeIpam();
  const found = [...checks.malformed(), ...own];
  // Blocks are cut by sizes: a wrong one is no fault of the networks.
  const shapes = [...checks.overlapping(), ...(concerns(found, sizeNames) ? [] : checks.misshapen())];
  const isUnknown = roomNames.some((name) => refused.has(name));
  const isRefused = ({ name, text }: OptionRefusal): boolean =>
    found.some((each) => each.name === name && each.text === text);
  const all = [...found, ...shapes.filter((shape) => !isRefused(shape))];
  return [...all, ...(isUnknown || concerns(all, roomNames) ? [] : checks.withoutRoom())].map(refusalLine);
}

function concerns(refusals: readonly OptionRefusal[], names: readonly OptionName[]): boolean {
  return refusals.some(({ name }) => names.includes(name));
}

/** Why the pod CIDRs of Nodes cannot follow a cloud. */
const noAliases: Readonly<Record<string, OptionNeed>> = {
  none: optionNeeds.cloud,
  azure: optionNeeds.azureRoutes,
  alibabacloud: optionNeeds.alibabaRoutes,
};

const oneOfEach = optionNeeds.nodeNetwork.accepted;

class BlockChecks {
  readonly #options: Options;
  readonly #sources: OptionSources;
  readonly #refused: ReadonlySet<OptionName>;
  readonly #scope: BlockScope;

  constructor({ options, sources, refused }: Omit<ReadValues, 'scope'>, scope: BlockScope) {
    this.#options = options;
    this.#sources = sources;
    this.#refused = refused;
    this.#scope = scope;
  }

  malformed(): readonly OptionRefusal[] {
    return networkOptions(this.#scope).flatMap((name) =>
      textsOf(name, this.#options).flatMap((text, index, { length }) => {
        const reading = parseCidr(text);
        if (reading.kind === 'cidr') return [];
        // Not every text is shown: it may be a credential.
        const place = length > 1 ? ` (entry ${index + 1} of ${length})` : '';
        return [this.#refusal(name, text, `${reading.why}${place}`, 'a CIDR')];
      }),
    );
  }

  ofClusterPool(): readonly OptionRefusal[] {
    const wrong = poolOptions['cluster-pool'].flatMap((option, index) =>
      readAll(option, this.#options)
        .filter(({ cidr }) => cidr.family !== families[index])
        .map(({ text, cidr }) =>
          this.#refusal(
            option,
            text,
            `it is an ${familyNames[cidr.family]} network`,
            `a CIDR of the other family; this one belongs to ${ofFamily[cidr.family].cidr}`,
          ),
        ),
    );
    const enabled = families
      .filter((family) => !concerns(wrong, [ofFamily[family].cidr]))
      .flatMap((family) => this.#enabledProblems(family));
    const hasAny = families.some(
      (family) => this.#hasCidr(family) || this.#refused.has(ofFamily[family].enable),
    );
    if (enabled.length > 0 || hasAny) return [...wrong, ...enabled];
    return [this.#unmet(optionNeeds.clusterPoolNetwork)];
  }

  #hasCidr(family: Family): boolean {
    return textsOf(ofFamily[family].cidr, this.#options).length > 0;
  }

  #enabledProblems(family: Family): readonly OptionRefusal[] {
    const { enable, cidr, need } = ofFamily[family];
    const isEnabled = this.#options[propertyOf(enable) as 'enableIpv6'];
    if (isEnabled === undefined || isEnabled === this.#hasCidr(family)) return [];
    const source = ` (${sourceInWords(enable, this.#sources[enable])})`;
    if (isEnabled) return [this.#unmet({ ...need, because: need.because + source })];
    const text = textsOf(cidr, this.#options).join(',');
    return [this.#refusal(cidr, text, `${enable} is false${source}`, `nothing, or ${enable}=true`)];
  }

  ofNodeIpam(): readonly OptionRefusal[] {
    const { cidrAllocatorType } = this.#options;
    const services = [
      ...this.#networks('service-cluster-ip-range', readAll('service-cluster-ip-range', this.#options)),
      ...this.#secondary(),
    ];
    if (cidrAllocatorType === 'CloudAllocator') return [...this.#provider(), ...services];
    const given = readAll('cluster-cidr', this.#options);
    const follows = cidrAllocatorType === 'RangeAllocator' ? [] : [...this.#provider(), ...this.#synced()];
    const isNeeded = !this.#refused.has('cidr-allocator-type');
    const none = isNeeded && textsOf('cluster-cidr', this.#options).length === 0;
    return [
      ...follows,
      ...(none ? [this.#unmet(optionNeeds.nodeNetwork)] : []),
      ...this.#networks('cluster-cidr', given),
      ...services,
      ...this.#sizes(given),
    ];
  }

  /** Where Nodes and a cloud are brought into accord, each Node has one block, and it must be free in the cloud. */
  #synced(): readonly OptionRefusal[] {
    const { cidrAllocatorType, cloudProvider } = this.#options;
    const texts = textsOf('cluster-cidr', this.#options);
    const networks =
      texts.length > 1
        ? [
            this.#refusal(
              'cluster-cidr',
              texts.join(','),
              `cidr-allocator-type is ${cidrAllocatorType}, which follows one alias of each instance`,
              'one CIDR',
            ),
          ]
        : [];
    if (cidrAllocatorType !== 'IPAMFromCluster' || cloudProvider !== 'aws') return networks;
    return [this.#unmet(optionNeeds.awsChooses, cidrAllocatorType), ...networks];
  }

  /** No Node could get a block at all if Services had all of them. */
  withoutRoom(): readonly OptionRefusal[] {
    if (this.#scope !== 'nodeipam' || this.#options.cidrAllocatorType === 'CloudAllocator') return [];
    const { pools, reserved } = blockSettings(this.#options, this.#scope);
    return pools.flatMap((pool) => {
      if (freeBlocks(pool, reserved) > 0) return [];
      const { cidr } = pool;
      const because = 'no block is left beside the addresses of Services';
      return [this.#refusal('cluster-cidr', cidrText(cidr), because, 'a larger network, or another one')];
    });
  }

  /** The cloud must have a notion of blocks that it routes to an instance. */
  #provider(): readonly OptionRefusal[] {
    const { cloudProvider } = this.#options;
    const unmet = noAliases[cloudProvider ?? 'none'];
    return unmet === undefined ? [] : [this.#unmet(unmet, cloudProvider)];
  }

  /** At most one of each family. */
  #networks(option: OptionName, given: readonly Given[]): readonly OptionRefusal[] {
    return given.flatMap(({ text, cidr }, index) => {
      const earlier = given.slice(0, index).find((each) => each.cidr.family === cidr.family);
      if (earlier === undefined) return [];
      const because = `${earlier.text} is an ${familyNames[cidr.family]} network, too`;
      return [this.#refusal(option, text, because, oneOfEach)];
    });
  }

  #secondary(): readonly OptionRefusal[] {
    const option = 'secondary-service-cluster-ip-range';
    const texts = textsOf(option, this.#options);
    const accepted = 'one CIDR, of the family that service-cluster-ip-range lacks';
    if (texts.length > 1)
      return [this.#refusal(option, texts.join(','), 'it names more than one network', accepted)];
    const first = readAll('service-cluster-ip-range', this.#options);
    return readAll(option, this.#options)
      .filter(({ cidr }) => first.some((each) => each.cidr.family === cidr.family))
      .map(({ text }) => this.#refusal(option, text, 'service-cluster-ip-range is of that family', accepted));
  }

  #sizes(given: readonly Given[]): readonly OptionRefusal[] {
    const isGiven = (name: OptionName): boolean => this.#sources[name].kind !== 'default';
    const plain = 'node-cidr-mask-size';
    const size = String(this.#options.nodeCidrMaskSize);
    const perFamily = families.map((family) => sizeOptions.nodeipam[family]).filter(isGiven);
    const areTwo = new Set(given.map(({ cidr }) => cidr.family)).size > 1;
    if (isGiven(plain) && areTwo)
      return [this.#refusal(plain, size, 'cluster-cidr names two networks', 'a size for each family')];
    const [other] = perFamily;
    if (isGiven(plain) && other !== undefined)
      return [this.#refusal(plain, size, `${other} is set, too`, 'one of the two')];
    const [only] = given;
    const isWhole = textsOf('cluster-cidr', this.#options).length === given.length;
    if (areTwo || !isWhole || only === undefined) return [];
    const idle = perFamily.find((name) => name !== sizeOptions.nodeipam[only.cidr.family]);
    if (idle === undefined) return [];
    const value = String(this.#options[propertyOf(idle) as 'nodeCidrMaskSizeIpv4']);
    const because = `cluster-cidr is an ${familyNames[only.cidr.family]} network only`;
    return [this.#refusal(idle, value, because, sizeOptions.nodeipam[only.cidr.family])];
  }

  overlapping(): readonly OptionRefusal[] {
    const given = poolOptions[this.#scope].flatMap((name) => readAll(name, this.#options));
    return given.flatMap((later, index) => {
      const earlier = given.slice(0, index).find(({ cidr }) => overlaps(cidr, later.cidr));
      if (earlier === undefined) return [];
      return [this.#refusal(later.option, later.text, `it overlaps ${earlier.text}`, 'networks apart')];
    });
  }

  misshapen(): readonly OptionRefusal[] {
    return poolOptions[this.#scope].flatMap((name) =>
      readAll(name, this.#options).flatMap(({ text, cidr }) => {
        const shape = blockShape(cidr, maskSizeOf(this.#scope, cidr.family, this.#options));
        if (shape.kind === 'shape') return [];
        const size = this.#options.nodeCidrMaskSize === undefined ? undefined : 'node-cidr-mask-size';
        const option = size ?? sizeOptions[this.#scope][cidr.family];
        return [this.#refusal(name, text, shape.why, `a network that ${option} divides into blocks`)];
      }),
    );
  }

  #unmet({ name, because, accepted }: OptionNeed, text = ''): OptionRefusal {
    return this.#refusal(name, text, because, accepted);
  }

  #refusal(name: OptionName, text: string, because: string, accepted: string): OptionRefusal {
    return { name, source: this.#sources[name], text, because, accepted };
  }
}

/**
 * Reports host bits, which are masked away, and networks with room for one node. Options of clouds may stand in a shared
 * ConfigMap: they are reported elsewhere.
 */
function blockWarnings(options: Options, scope: OptionScope): readonly OptionWarning[] {
  if (scope === 'cloud' || scope === 'agent' || scope === 'multi-pool') return [];
  const masked = networkOptions(scope)
    .flatMap((name) => readAll(name, options))
    .filter(({ hasHostBits }) => hasHostBits)
    .map(({ option, text, cidr }) => ({
      kind: 'warning' as const,
      message: 'a network has bits set beyond its prefix length: they count as zero',
      details: { option, given: text, meant: cidrText(cidr) },
    }));
  return [...masked, ...warningsOnRoom(options, scope)];
}

function warningsOnRoom(options: Options, scope: BlockScope): readonly OptionWarning[] {
  if (options.cidrAllocatorType === 'CloudAllocator') return [];
  const settings = blockSettings(options, scope);
  return families.flatMap((family) => {
    const pools = settings.pools.filter(({ cidr }) => cidr.family === family);
    const room = pools.reduce((sum, pool) => sum + freeBlocks(pool, settings.reserved), 0);
    const [first] = pools;
    if (room !== 1 || first === undefined) return [];
    const option = scope === 'nodeipam' ? 'cluster-cidr' : ofFamily[family].cidr;
    const networks = pools.map(({ cidr }) => cidrText(cidr)).join();
    return {
      kind: 'warning',
      message: 'the networks of a family have room for one node only: every other one waits',
      details: { family, option, networks, maskSize: first.maskSize },
    };
  });
}

/** Blocks beside what is reserved. */
function freeBlocks({ cidr, maskSize }: BlockPool, reserved: readonly Cidr[]): number {
  const set = new BlockSet(cidr, maskSize);
  for (const each of reserved) {
    const { first, last } = set.rangeOf(each) ?? { first: 0, last: -1 };
    for (let index = first; index <= last; index++) set.take(index);
  }
  return set.capacity - set.count;
}
