/** Options that enable every release, with short delays. */
export const fastReleaseFlags = {
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '5',
  'release-quarantine': '75s',
  'idle-interface-delay': '60s',
  'eni-gc-interval': '1m',
  'cluster-name': 'hasty',
} as const;
