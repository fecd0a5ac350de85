// An instance with one interface, its alias IP ranges, and the fingerprint of their state.
import type { Random } from '../../runtime/random.ts';

export interface AliasRange {
  readonly ipCidrRange: string;
  readonly subnetworkRangeName?: string;
}

export class GceInstance {
  readonly name: string;
  /** Whether an operation changes it. */
  isChanging = false;
  readonly #random: Random;
  readonly #ipv6: string | undefined;
  #ranges: readonly AliasRange[];
  #fingerprint: string;

  constructor(
    name: string,
    ranges: readonly AliasRange[],
    { random, ipv6 }: { readonly random: Random; readonly ipv6: string | undefined },
  ) {
    this.name = name;
    this.#random = random;
    this.#ipv6 = ipv6;
    this.#ranges = ranges;
    this.#fingerprint = this.#newFingerprint();
  }

  get ranges(): readonly AliasRange[] {
    return this.#ranges;
  }

  get fingerprint(): string {
    return this.#fingerprint;
  }

  change(ranges: readonly AliasRange[]): void {
    this.#ranges = ranges;
    this.#fingerprint = this.#newFingerprint();
  }

  /** As instances.get answers. Lists without items are left out. */
  shown(isLying: boolean): object {
    return {
      kind: 'compute#instance',
      name: this.name,
      status: 'RUNNING',
      networkInterfaces: [
        {
          kind: 'compute#networkInterface',
          name: 'nic0',
          networkIP: '10.128.0.2',
          fingerprint: isLying ? this.#newFingerprint() : this.#fingerprint,
          ...(this.#ranges.length > 0 && { aliasIpRanges: this.#ranges }),
          ...(this.#ipv6 !== undefined && { ipv6Address: this.#ipv6, internalIpv6PrefixLength: 96 }),
        },
      ],
    };
  }

  #newFingerprint(): string {
    return Buffer.from(this.#random.hex(16), 'hex').toString('base64');
  }
}
