// Mean latencies of calls in ms, for a healthy region: how long until a request is answered, not until its operation ends.

const known: Readonly<Partial<Record<string, number>>> = {
  'VirtualMachineScaleSetVMs.Get': 250,
  'VirtualMachineScaleSetVMs.Update': 1200,
  'NetworkInterfaces.CreateOrUpdate': 600,
  'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces': 500,
  'Operations.Get': 80,
};

export function meanLatency(name: string): number {
  return known[name] ?? (/\.(Get|List|InstanceView)/.test(name) ? 150 : 800);
}
