// Garbles answers that stay well-formed.

type Output = Readonly<Record<string, unknown>>;

/** The output without any id. */
export function withoutIds(output: Output): Output {
  return mapMembers(output, (member, value) => (/Ids?$/.test(member) ? undefined : value));
}

/** The output with unknown states. */
export function withUnknownEnums(output: Output): Output {
  const enums = /^(Status|State|InterfaceType|Hypervisor|Name)$/;
  return mapMembers(output, (member, value) =>
    enums.test(member) && typeof value === 'string' ? 'quantum' : value,
  );
}

function mapMembers(output: Output, change: (member: string, value: unknown) => unknown): Output {
  return Object.fromEntries(
    Object.entries(output)
      .map(([member, value]) => [member, deepen(change(member, value), change)])
      .filter(([, value]) => value !== undefined),
  ) as Output;
}

function deepen(value: unknown, change: (member: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => deepen(item, change));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return mapMembers(value as Output, change);
}
