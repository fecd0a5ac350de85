// Describes the region, its zones and the account.
import type { CloudNetwork } from '../../cloud/cloud-network.ts';
import { type Action, action } from '../action.ts';
import { invalidParameterValue } from '../ec2-refusal.ts';
import { compileFilters, filterShape } from '../filters.ts';
import { zoneIdOf } from '../names.ts';
import { as, flag, list, record, text } from '../shape.ts';

const describeAvailabilityZones = action({
  input: record({
    Filters: as('Filter', filterShape),
    ZoneNames: as('ZoneName', list(text)),
    ZoneIds: as('ZoneId', list(text)),
    AllAvailabilityZones: flag,
  }),
  output: record({
    AvailabilityZones: as(
      'availabilityZoneInfo',
      list(
        record({
          State: as('zoneState', text),
          OptInStatus: text,
          RegionName: text,
          ZoneName: text,
          ZoneId: text,
          GroupName: text,
          NetworkBorderGroup: text,
          ZoneType: text,
        }),
      ),
    ),
  }),
  run: ({ Filters = [], ZoneNames = [], ZoneIds = [] }, { network, view }) => {
    const zones = zonesOf(network);
    const unknown = ZoneNames.find((name) => !zones.includes(name));
    if (unknown !== undefined) throw invalidParameterValue(`Invalid availability zone: [${unknown}]`);
    const fits = compileFilters<{ zone: string; tags?: never }>(Filters, {
      'region-name': () => network.region,
      state: () => 'available',
      'zone-id': ({ zone }) => zoneIdOf(zone),
      'zone-name': ({ zone }) => zone,
    });
    const named = (zone: string): boolean =>
      (ZoneNames.length === 0 || ZoneNames.includes(zone)) &&
      (ZoneIds.length === 0 || ZoneIds.includes(zoneIdOf(zone)));
    return {
      AvailabilityZones: zones
        .filter((zone) => named(zone) && fits({ zone }, view))
        .map((zone) => ({
          State: 'available',
          OptInStatus: 'opt-in-not-required',
          RegionName: network.region,
          ZoneName: zone,
          ZoneId: zoneIdOf(zone),
          GroupName: `${network.region}-zg-1`,
          NetworkBorderGroup: network.region,
          ZoneType: 'availability-zone',
        })),
    };
  },
});

/** Every zone with a subnet. */
function zonesOf(network: CloudNetwork): readonly string[] {
  return [...new Set([...network.subnets.values()].map(({ zone }) => zone))].toSorted();
}

const describeRegions = action({
  input: record({
    Filters: as('Filter', filterShape),
    RegionNames: as('RegionName', list(text)),
    AllRegions: flag,
  }),
  output: record({
    Regions: as(
      'regionInfo',
      list(record({ RegionName: text, Endpoint: as('regionEndpoint', text), OptInStatus: text })),
    ),
  }),
  run: ({ Filters = [], RegionNames = [] }, { network: { region }, view }) => {
    const unknown = RegionNames.find((name) => name !== region);
    if (unknown !== undefined) throw invalidParameterValue(`Invalid region name: [${unknown}]`);
    const fits = compileFilters<{ tags?: never }>(Filters, {
      endpoint: () => `ec2.${region}.amazonaws.com`,
      'opt-in-status': () => 'opt-in-not-required',
      'region-name': () => region,
    });
    const only = {
      RegionName: region,
      Endpoint: `ec2.${region}.amazonaws.com`,
      OptInStatus: 'opt-in-not-required',
    };
    return { Regions: fits({}, view) ? [only] : [] };
  },
});

const attributes: Readonly<Record<string, string>> = {
  'supported-platforms': 'VPC',
  'default-vpc': 'none',
  'vpc-max-security-groups-per-interface': '5',
};

const describeAccountAttributes = action({
  input: record({ AttributeNames: as('AttributeName', list(text)) }),
  output: record({
    AccountAttributes: as(
      'accountAttributeSet',
      list(
        record({
          AttributeName: text,
          AttributeValues: as('attributeValueSet', list(record({ AttributeValue: text }))),
        }),
      ),
    ),
  }),
  run: ({ AttributeNames = [] }) => ({
    AccountAttributes: Object.entries(attributes)
      .filter(([name]) => AttributeNames.length === 0 || AttributeNames.includes(name))
      .map(([name, value]) => ({ AttributeName: name, AttributeValues: [{ AttributeValue: value }] })),
  }),
});

export const regionActions: Readonly<Record<string, Action>> = {
  DescribeAvailabilityZones: describeAvailabilityZones,
  DescribeRegions: describeRegions,
  DescribeAccountAttributes: describeAccountAttributes,
};
