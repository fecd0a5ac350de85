// Options of cilium-operator that Headwater accepts and ignores, so that an existing command line starts.

/** Why each has no effect: the rest of a sentence that starts with the option. */
export const optionsWithoutEffect = {
  'update-ec2-adapter-limit-via-api': 'limits of instance types are always read from EC2',
  'aws-instance-limit-mapping': 'limits of instance types are always read from EC2',
  'operator-prometheus-serve-addr': 'health, metrics and status are served together on serve-addr',
  'operator-api-serve-addr': 'health, metrics and status are served together on serve-addr',
  'enable-metrics': 'metrics are always served, on serve-addr',
} as const;

export type OptionWithoutEffect = keyof typeof optionsWithoutEffect;
