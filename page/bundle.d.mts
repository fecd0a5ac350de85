export function bundlePage(): Promise<{
  readonly html: string;
  /** Paths of its sources, from the root of the checkout. */
  readonly inputs: Readonly<Record<string, unknown>>;
}>;
