import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { describe, expect, test } from '@jest/globals';
import { readExtraAuthorities } from '../../../src/config/outbound.ts';
import { loadOptions } from '../../../src/config/load-options.ts';
import { selfSignedCertificate } from '../../../src/simulator/certificates.ts';

const [one, two] = [selfSignedCertificate('one').cert, selfSignedCertificate('two').cert];

function read(text: string): ReturnType<typeof readExtraAuthorities> {
  return readExtraAuthorities('/ca.pem', { readFile: () => text });
}

describe('additional certificate authorities', () => {
  test('are all those of the file, whatever text is between them', () => {
    const reading = read(`# corporate\r\n${one.replaceAll('\n', '\r\n')}\n\nSubject: two\n${two}`);

    expect(reading).toMatchObject({ kind: 'certificates', certificates: [expect.anything(), two.trim()] });
  });

  test('are none without a file', () => {
    expect(readExtraAuthorities(undefined, { readFile: () => one })).toEqual({
      kind: 'certificates',
      certificates: [],
    });
  });

  test.each([
    ['nothing', '', 'it holds no certificate as PEM'],
    ['DER', '\u0030\u0082', 'it holds no certificate as PEM'],
    ['a key', selfSignedCertificate('key').key, 'it holds no certificate as PEM'],
    ['half a certificate', one.slice(0, 300), 'it holds no certificate as PEM'],
    ['a broken one', one + two.replace(/M.{20}/, 'AAAA'), 'certificate 2 in it cannot be read'],
    [
      'no base64',
      '-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n',
      'certificate 1 in it cannot be read',
    ],
  ])('are refused when the file holds %s', (_, text, because) => {
    expect(read(text)).toEqual({ kind: 'refused', because });
  });

  test.each([
    ['ENOENT', 'it does not exist'],
    ['EACCES', 'this process may not read it'],
    ['EISDIR', 'it is a directory'],
  ])('are refused in one line that names a file that cannot be read (%s)', (code, because) => {
    const loaded = loadOptions(
      new Map([['extra-ca-file', ['/ca.pem']]]),
      {
        environment: { HTTPS_PROXY: 'ftp://a.test' },
        readFile: () => {
          throw Object.assign(new Error(code), { code });
        },
        readDirectory: () => [],
      },
      { checks: blockChecks },
    );

    expect(loaded).toEqual({
      kind: 'refused',
      problems: [
        expect.stringMatching(/^HTTPS_PROXY: "ftp:/),
        `extra-ca-file: "/ca.pem" from the flag --extra-ca-file is refused because ${because}; accepted: a readable file of certificates as PEM, each between BEGIN CERTIFICATE and END CERTIFICATE`,
      ],
    });
  });
});
