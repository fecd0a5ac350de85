// Alerts about subnets: they run out slowly, and somebody has to add addresses before they are gone.
import { type AlertGroup, atCluster, bySubnet, ofSubnets } from '../alert.ts';

const free = ofSubnets('headwater_subnet_free_addresses');
const size = ofSubnets('headwater_subnet_size_addresses');
/** A subnet that no node is in concerns nobody. */
const inUse = `${ofSubnets('headwater_subnet_nodes')} > 0`;
/** Subnets of Azure are in no zone. */
const where = 'subnet {{ $labels.subnet_id }}{{ with $labels.availability_zone }} ({{ . }}){{ end }}';

export const subnetAlerts: AlertGroup = {
  name: 'headwater-subnets',
  alerts: [
    {
      name: 'HeadwaterSubnetFullWithin24Hours',
      // The leader's own series: those of a leader before it stand still, and would be drawn out for a day.
      expr: `max ${bySubnet} (
  predict_linear(headwater_subnet_free_addresses[3h], 24 * 3600)
  and on (cluster, job, instance) headwater_leader == 1
  and headwater_subnet_free_addresses offset 1h
) < 0
and ${free} / ${size} < 0.5
and ${inUse}`,
      for: '30m',
      severity: 'warning',
      summary: `${where} is full within 24 hours if the trend continues${atCluster}`,
      description:
        'By the trend of the last 3 hours the subnet lacks {{ $value | humanize }} addresses (below zero) in 24 hours. Pods that need an address of it will wait.',
    },
    {
      name: 'HeadwaterSubnetNearlyFull',
      expr: `${free} / ${size} < 0.1
and ${inUse}`,
      for: '10m',
      severity: 'warning',
      summary: `${where} is nearly full${atCluster}`,
      description:
        '{{ $value | humanizePercentage }} of its addresses are free. When they are gone, nodes that depend on it get no more, and new pods on them wait.',
    },
    {
      name: 'HeadwaterSubnetWithoutBlocks',
      expr: `${ofSubnets('headwater_subnet_free_blocks')} == 0
and ${free} >= 16
and ${inUse}
and on (cluster) (
  sum by (cluster) (headwater_prefixes) > 0
  or sum by (cluster) (headwater_blocked{resource="subnet",reason="PrefixSpaceFragmented"}) > 0
)`,
      for: '15m',
      severity: 'warning',
      summary: `${where} has free addresses but no whole /28 block${atCluster}`,
      description:
        'No prefix can be assigned from it. Nodes get single addresses instead, so that an interface holds a sixteenth of the pods.',
    },
  ],
};
