import { describe, expect, test } from '@jest/globals';
import { accept } from '../../../../src/simulator/ec2/accept.ts';
import { decodeParameters, encodeAnswer, encodeRefusal } from '../../../../src/simulator/ec2/ec2-query.ts';
import { Ec2Refusal } from '../../../../src/simulator/ec2/ec2-refusal.ts';
import {
  as,
  flag,
  idOf,
  integer,
  kept,
  list,
  oneOf,
  record,
  required,
  text,
  time,
} from '../../../../src/simulator/ec2/shape.ts';

const input = record({
  SubnetId: required(idOf('subnets')),
  Count: integer,
  Force: flag,
  Mode: oneOf('fast', 'slow'),
  Names: as('Name', list(text)),
  Filters: as('Filter', list(record({ Name: text, Values: as('Value', list(text)) }))),
});

const decode = (query: string): Record<string, unknown> =>
  decodeParameters(input, [...new URLSearchParams(query)]);

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Ec2Refusal) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('the parameters of a query', () => {
  test('become an input, with lists in the order of their numbers', () => {
    const query =
      'SubnetId=subnet-0000000a&Count=3&Force=True&Name.10=c&Name.2=b&Name.1=a&Filter.1.Name=tag:x&Filter.1.Value.1=%2A&Filter.2.Name=y';

    expect(decode(query)).toEqual({
      SubnetId: 'subnet-0000000a',
      Count: 3,
      Force: true,
      Names: ['a', 'b', 'c'],
      Filters: [{ Name: 'tag:x', Values: ['*'] }, { Name: 'y' }],
    });
  });

  test.each([
    ['Nme.1=a', 'UnknownParameter: The parameter Nme is not recognized'],
    ['Name.a=a', 'UnknownParameter: The parameter Name.a is not recognized'],
    ['Name.0=a', 'UnknownParameter: The parameter Name.0 is not recognized'],
    ['SubnetId.1=a', 'UnknownParameter: The parameter SubnetId.1 is not recognized'],
    ['Filter.1.Nme=a', 'UnknownParameter: The parameter Filter.1.Nme is not recognized'],
    [
      'Count=many',
      'InvalidParameterValue: Value (many) for parameter count is invalid. The value must be an integer.',
    ],
    [
      'Force=yes',
      'InvalidParameterValue: Value (yes) for parameter force is invalid. The value must be true or false.',
    ],
  ])('are refused when one is unknown or malformed: %s', (query, expected) => {
    expect(refusal(() => decode(query))).toBe(expected);
  });

  test.each([
    [{}, 'MissingParameter: The request must contain the parameter subnetId'],
    [{ SubnetId: 'subnet-1' }, 'InvalidSubnetID.Malformed: Invalid id: "subnet-1" (expecting "subnet-...")'],
    [
      { SubnetId: 'subnet-0000000a', Mode: 'quick' },
      'InvalidParameterValue: Value (quick) for parameter mode is invalid.',
    ],
    [
      { SubnetId: 'subnet-0000000a', Count: 1.5 },
      'InvalidParameterValue: Value (1.5) for parameter count is invalid.',
    ],
    [
      { SubnetId: 'subnet-0000000a', Names: 'a' },
      'InvalidParameterValue: Value (a) for parameter names is invalid.',
    ],
    [{ SubnetId: 'subnet-0000000a', Extra: 1 }, 'UnknownParameter: The parameter Extra is not recognized'],
    [
      { SubnetId: 'subnet-0000000a', Filters: [{ Nme: 'x' }] },
      'UnknownParameter: The parameter Filters.1.Nme is not recognized',
    ],
    [{ SubnetId: 'subnet-0000000a', Count: undefined }, 'accepted'],
  ])('are checked when the input is %j: %s', (given, expected) => {
    expect(refusal(() => accept(input, given))).toBe(expected);
  });
});

describe('the answers of EC2', () => {
  test('write a value that is kept once for each value and each name', () => {
    const thing = kept(record({ Id: text }));
    const shape = record({ Things: list(thing), Best: thing });
    let reads = 0;
    const value = {
      get Id() {
        reads++;
        return 'a';
      },
    };
    const answer = (Best: { readonly Id: string }): string =>
      encodeAnswer('DescribeThings', shape, { Things: [value], Best }, 'r-1');

    expect(answer(value)).toContain('<things><item><id>a</id></item></things><best><id>a</id></best>');
    const readsOfOne = reads;
    expect(answer(value)).toBe(answer(value));
    expect(reads).toBe(readsOfOne);
    expect(answer({ Id: 'a' })).toBe(answer(value));
    expect(answer({ Id: 'b' })).toContain('<best><id>b</id></best>');
  });

  test('are XML with the names of the wire', () => {
    const shape = record({
      Things: as('thingSet', list(record({ Id: text, At: time, Ready: flag, Marks: list(text) }))),
      NextToken: text,
    });
    const output = {
      Things: [{ Id: `<&'">`, At: new Date(0), Ready: false, Marks: [] }],
      NextToken: undefined,
    };

    expect(encodeAnswer('DescribeThings', shape, output, 'r-1')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<DescribeThingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r-1</requestId>' +
        '<thingSet><item><id>&lt;&amp;&apos;&quot;&gt;</id><at>1970-01-01T00:00:00.000Z</at><ready>false</ready><marks/></item></thingSet>' +
        '</DescribeThingsResponse>',
    );
  });

  test('give a refusal a code, a message and the id of the request', () => {
    expect(encodeRefusal(new Ec2Refusal('Code.A', 'a < b'), 'r-1')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Response><Errors><Error><Code>Code.A</Code><Message>a &lt; b</Message></Error></Errors><RequestID>r-1</RequestID></Response>',
    );
  });
});
