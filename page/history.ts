// Free addresses of each subnet, and free blocks of each pool, since the page was opened.
import type { ShownReport } from '../src/commands/status/served-report.ts';

/** One hour of reads. */
const most = 720;

export class History {
  readonly #free = new Map<string, { readonly at: number; readonly free: number }[]>();

  /** `at`: in ms. */
  add({ subnets = [], pools = [] }: ShownReport, at: number): void {
    const now = [
      ...subnets.filter(({ counted }) => counted).map(({ id, free }) => [id, free] as const),
      ...pools.map(({ pool, cidr, free }) => [`${pool} ${cidr}`, free] as const),
    ];
    for (const [id, free] of now) {
      const line = this.#free.get(id) ?? [];
      line.push({ at, free });
      if (line.length > most) line.shift();
      this.#free.set(id, line);
    }
  }

  of(id: string): readonly { readonly at: number; readonly free: number }[] {
    return this.#free.get(id) ?? [];
  }
}
