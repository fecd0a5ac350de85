// What the best peer that can be run at all was measured to take on each cloud: a controller that hands out addresses ahead
// of pods. Constants: none is run here.

export const measuredPeer = {
  name: 'amazon-vpc-resource-controller-k8s',
  how: 'at its defaults: a warm pool of 8 by assigning on the first interface, against an EC2 model with the same limits and latencies, unscaled; measured once, not in this run',
  scaleUps: [
    { nodes: 1000, seconds: 544, half: 374 },
    { nodes: 100, seconds: 53, half: undefined },
  ],
  callsPerNode: 5,
  peakMemoryMiB: 98,
  cpuSeconds: 10,
} as const;

/** On Alibaba Cloud. */
export const tunedTerway = {
  how: "The limit is what Terway's central mode took, tuned, against a model with the same limits and an attachment of 3 s; measured once on a quiet machine, not in this run.",
  /** Until the last node was supplied, by their number. */
  seconds: { 100: 5.6, 500: 18.6 },
} as const;
