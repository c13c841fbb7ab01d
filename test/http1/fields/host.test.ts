import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { hostName } from '../../../src/http1/fields/host.ts'
import { anyCharacter } from '../../help/any-text.ts'

const label63 = 'a'.repeat(63)

describe('hostName', () => {
  const names = [
    ['a.example', 'a.example'],
    ['WWW.Example.COM', 'www.example.com'],
    ['localhost', 'localhost'],
    ['a.example:8080', 'a.example'],
    ['a.example:', 'a.example'],
    ['a.example.', 'a.example'],
    ['a.example.:80', 'a.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['under_score.example', 'under_score.example'],
    ['-a.example', '-a.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::1]:8080', '::1'],
    ['[2001:DB8::A]', '2001:db8::a'],
    ['[::ffff:192.0.2.1]', '192.0.2.1'],
    [`${label63}.example`, `${label63}.example`],
    [`${`${label63}.`.repeat(3)}${'a'.repeat(61)}`, `${`${label63}.`.repeat(3)}${'a'.repeat(61)}`],
  ] as const
  for (const [value, name] of names)
    test(`reads ${shortened(name)} in "${shortened(value)}"`, () => equal(hostName(value), name))

  const refused = [
    ['nothing', ''],
    ['only a port', ':80'],
    ['only a dot', '.'],
    ['an empty label', 'a..example'],
    ['a dot at the begin', '.example'],
    ['two dots at the end', 'a.example..'],
    ['a label of 64', `a${label63}.example`],
    ['a name of 254', `${`${label63}.`.repeat(3)}${'a'.repeat(62)}`],
    ['a second port', 'a.example:80:81'],
    ['a port in letters', 'a.example:http'],
    ['a port with a sign', 'a.example:+80'],
    ['a port of six digits', 'a.example:000080'],
    ['userinfo, behind which another host stands', 'a.example@b.example'],
    ['userinfo with a password', 'a:80@b.example'],
    ['a path', 'a.example/b'],
    ['a query', 'a.example?b'],
    ['a fragment', 'a.example#b'],
    ['a backslash', 'a.example\\b'],
    ['two hosts', 'a.example, b.example'],
    ['a space inside', 'a example'],
    ['a tab inside', 'a\texample'],
    ['a no-break space behind', 'a.example\xa0'],
    ['percent-encoding', 'a%2eexample'],
    ['bytes beyond ASCII', 'b\xfccher.example'],
    ['sub-delims of a reg-name', 'a!$&.example'],
    ['a scheme', 'http://a.example'],
    ['an unclosed bracket', '[::1'],
    ['a stray bracket', '::1]'],
    ['an IPv6 address without brackets', '2001:db8::1'],
    ['brackets with nothing in them', '[]'],
    ['brackets around IPv4', '[127.0.0.1]'],
    ['brackets around a name', '[a.example]'],
    ['a zone id, which only its own machine understands', '[fe80::1%eth0]'],
    ['an address of the future', '[v1.a]'],
    ['text behind the bracket', '[::1]a'],
    ['a bad port behind the bracket', '[::1]:x'],
  ] as const
  for (const [hole, value] of refused) test(`refuses ${hole}`, () => equal(hostName(value), null))

  test('gives of any value either nothing or a name that is its own name', () => {
    fc.assert(
      fc.property(anyValue(), value => {
        const name = hostName(value)
        if (name === null) return
        equal(/^(?:[\da-z_-]+(?:\.[\da-z_-]+)*|[\da-f:.]+)$/.test(name), true)
        equal(hostName(name.includes(':') ? `[${name}]` : name), name)
      }),
    )
  })

  test('agrees with the URL parser on every plain name it takes', () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat({ max: 65535 }), (domain, port) => {
        equal(hostName(`${domain}:${port}`), new URL(`http://${domain}:${port}`).hostname)
      }),
    )
  })
})

function anyValue(): fc.Arbitrary<string> {
  const pieces = fc.constantFrom(
    'a',
    'B',
    '.',
    ':',
    '80',
    '[',
    ']',
    '::1',
    '@',
    '/',
    '%',
    ' ',
    '\xe4',
    '-',
    '_',
  )
  return fc.oneof(
    fc.array(pieces, { maxLength: 10 }).map(parts => parts.join('')),
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map(address => `[${address}]`),
    fc.string({ unit: anyCharacter }),
  )
}

function shortened(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}… (${value.length})` : value
}
