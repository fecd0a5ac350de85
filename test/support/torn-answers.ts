// Answers of EC2 that lack something, as a torn listing, another region or a narrow role gives them.

/** By action, what EC2 answers where it has nothing of what was asked. */
export const emptyAnswers: Readonly<Record<string, object>> = {
  DescribeNetworkInterfaces: { NetworkInterfaces: [] },
  DescribeInstances: { Reservations: [] },
  DescribeSubnets: { Subnets: [] },
  DescribeVpcs: { Vpcs: [] },
  DescribeRouteTables: { RouteTables: [] },
  DescribeSecurityGroups: { SecurityGroups: [] },
};

interface Shown {
  readonly Attachment?: { readonly InstanceId?: string; readonly DeviceIndex?: number };
}

/** The answer with only the interfaces that pass; other answers stay as they are. */
export function withInterfaces(output: object, passes: (item: Shown) => boolean): object {
  const { NetworkInterfaces: all } = output as { readonly NetworkInterfaces?: readonly Shown[] };
  return all === undefined ? output : { ...output, NetworkInterfaces: all.filter(passes) };
}

/** Instances are shown with their primary interface, and with no other one. */
export function withPrimariesOnly(output: object): object {
  return withInterfaces(output, ({ Attachment }) => Attachment?.DeviceIndex === 0);
}

interface Reservation {
  readonly Instances?: readonly { readonly InstanceId?: string }[];
}

/** Neither the instance nor its interfaces are shown. */
export function withoutInstance(output: object, instanceId: string): object {
  const { Reservations: all } = output as { readonly Reservations?: readonly Reservation[] };
  if (all === undefined)
    return withInterfaces(output, ({ Attachment }) => Attachment?.InstanceId !== instanceId);
  const Reservations = all.map(({ Instances = [], ...rest }) => ({
    ...rest,
    Instances: Instances.filter(({ InstanceId }) => InstanceId !== instanceId),
  }));
  return { ...output, Reservations };
}
