// Mean latencies of calls in ms, for a healthy region: how long until a request is answered, not until its change ends.

const known: Readonly<Partial<Record<string, number>>> = {
  CreateNetworkInterface: 600,
  AttachNetworkInterface: 400,
  DetachNetworkInterface: 400,
  AssignPrivateIpAddresses: 500,
  UnassignPrivateIpAddresses: 400,
  DeleteNetworkInterface: 300,
  DescribeNetworkInterfaces: 150,
};

export function meanLatency(name: string): number {
  return known[name] ?? (name.startsWith('Describe') || name.startsWith('List') ? 120 : 300);
}
