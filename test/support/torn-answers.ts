// Answers of EC2 that lack interfaces, as a torn listing or a narrow role gives them.

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
