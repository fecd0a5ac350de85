// Has the address layer give out the blocks of this node: those that the options name, those that the record remembers, and
// those that Kubernetes shows. They are in the record, so a restart without an API server serves as before.
import { addressText, type Cidr, cidrText, families, type Family } from '../../blocks/set/cidr.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { HostScopeAllocator } from '../allocators/host-scope-allocator.ts';
import type { Blocks } from '../ipam/holdings.ts';
import type { Ipam } from '../ipam/ipam.ts';
import { routerOf, routersInUse } from './block-router.ts';
import { chooseBlocks, type ChosenBlocks } from './shown-pools.ts';

export interface BlockKeeperOptions {
  readonly ipam: Ipam;
  readonly random: Random;
  readonly log: Logger;
  /** In place of blocks that are shown. */
  readonly ranges: readonly Cidr[];
  /** False: no block of the family is served. */
  readonly enabled: Readonly<Record<Family, boolean | undefined>>;
  /** Whether Kubernetes shows blocks, and the record remembers them. */
  readonly follows: boolean;
}

export class BlockKeeper {
  readonly #options: BlockKeeperOptions;
  #problems = '';
  #shown: readonly string[] = [];
  #isHoldingBack = false;

  constructor(options: BlockKeeperOptions) {
    this.#options = options;
  }

  /** Serves what is known without Kubernetes. */
  start(): void {
    const { ipam, follows } = this.#options;
    this.#choose(follows ? Object.values(ipam.holdings.blocks) : []);
  }

  /** Serves these blocks. A family that is not shown keeps what it has. */
  take(shown: readonly string[]): void {
    this.#choose(shown);
    this.#remember(chooseBlocks(shown, []).blocks);
  }

  /** Called when an address is free again, or when what is held is known at last. */
  notice(): void {
    if (this.#isHoldingBack) this.#choose(this.#shown);
  }

  #choose(shown: readonly string[]): void {
    const { ipam, ranges, enabled, log } = this.#options;
    this.#shown = shown;
    this.#isHoldingBack = ipam.holdings.isRebuilding;
    // A gateway that is chosen before may be the address of a pod.
    if (this.#isHoldingBack) return;
    const { blocks, problems: unusable } = chooseBlocks(shown, ranges);
    const served = Object.values(blocks).filter(({ family }) => enabled[family] !== false);
    const heldBack = served.flatMap((block) => this.#serve(block) ?? []);
    this.#isHoldingBack = heldBack.length > 0;
    const problems = [...unusable, ...heldBack];
    const text = problems.join('; ');
    if (text !== this.#problems && text !== '') log.warn('a block cannot be used', { problems });
    this.#problems = text;
  }

  /** Returns why it is held back. */
  #serve(block: Cidr): string | undefined {
    const { ipam, random, log } = this.#options;
    const earlier = ipam.pools.allocator(block.family)?.cidrs[0];
    const text = cidrText(block);
    if (earlier === text) return undefined;
    const held = new Set(Array.from(ipam.holdings.held(), ({ ip }) => ip));
    const router = routerOf(block, ipam.holdings.routers[text], held);
    if (router === undefined)
      return `${text} waits until a pod of an earlier block gives up an address of it: all are held, and none is left as gateway`;
    if (earlier === undefined) log.info('serving a block', { block: text });
    else log.warn('another block: nothing new comes from the earlier one', { earlier, block: text });
    this.#rememberRouter(text, addressText({ family: block.family, value: router }), held);
    ipam.serve(new HostScopeAllocator(block, random.fork(text), undefined, router));
    return undefined;
  }

  #rememberRouter(block: string, router: string, held: ReadonlySet<string>): void {
    const { ipam, log } = this.#options;
    const known = ipam.holdings.routers;
    if (known[block] === router) return;
    const problem = ipam.remember({ routers: { ...routersInUse(known, held), [block]: router } });
    if (problem !== undefined) log.warn('cannot remember the gateway of a block', { problem });
  }

  /** A record that cannot be written costs a restart without an API server, and nothing else. */
  #remember(shown: ChosenBlocks['blocks']): void {
    const { ipam, log } = this.#options;
    const known = ipam.holdings.blocks;
    const blocks: Blocks = { ...known, ...textsOf(shown) };
    if (families.every((family) => blocks[family] === known[family])) return;
    const problem = ipam.remember({ blocks });
    if (problem !== undefined) log.warn('cannot remember the blocks of this node', { problem });
  }
}

function textsOf(blocks: ChosenBlocks['blocks']): Blocks {
  return Object.fromEntries(Object.entries(blocks).map(([family, block]) => [family, cidrText(block)]));
}
