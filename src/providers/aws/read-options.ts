// What the options say about reading from EC2.

export interface ReadOptions {
  /** Results per page, 5 to 1000. */
  readonly pageSize: number;
  /** Tags that an instance must carry to be served. */
  readonly instanceTags: Readonly<Record<string, string>>;
  /** Restrict the subnets that new interfaces may be made in. */
  readonly subnetIds: readonly string[];
  readonly subnetTags: Readonly<Record<string, string>>;
}
