// Options of cilium-operator that Headwater accepts, so that an existing command line starts, and that do nothing here.

/** Why each has no effect, as the second half of a sentence that begins with the option. */
export const optionsWithoutEffect = {
  'enable-ipv6': 'Headwater supplies IPv4 addresses; IPv6 is left to the agents',
  'update-ec2-adapter-limit-via-api': 'limits of instance types are always read from EC2',
  'aws-instance-limit-mapping': 'limits of instance types are always read from EC2',
  'operator-prometheus-serve-addr': 'health, metrics and status are served together on serve-addr',
  'operator-api-serve-addr': 'health, metrics and status are served together on serve-addr',
  'enable-metrics': 'metrics are always served, on serve-addr',
} as const;

export type OptionWithoutEffect = keyof typeof optionsWithoutEffect;
