/** Everything that takes back is on, and in a hurry. */
export const hastyFlags = {
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '5',
  'release-quarantine': '75s',
  'idle-interface-delay': '60s',
  'eni-gc-interval': '1m',
  'cluster-name': 'hasty',
} as const;
