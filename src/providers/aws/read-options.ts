// Options for reading from EC2.

export interface ReadOptions {
  /** Results per page, 5 to 1000. */
  readonly pageSize: number;
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Readonly<Record<string, string>>;
  /** Restrict the subnets of new interfaces. */
  readonly subnetIds: readonly string[];
  readonly subnetTags: Readonly<Record<string, string>>;
  /** The zones that nodes name. If all zones cannot be read together, each is read alone. */
  readonly zones?: readonly string[];
}
