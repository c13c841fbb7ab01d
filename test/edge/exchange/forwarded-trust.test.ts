// Whichever field is believed, everything that an origin reads of the client agrees with it, whatever came.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AddressSet, believedHops } from '../../../src/net/address/address.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { trustedLines, forwardedOf } from '../../../src/edge/exchange/forwarded-trust.ts'
import { parseForwarded } from '../../../src/http1/fields/forwarded.ts'
import { hostName } from '../../../src/http1/fields/host.ts'
import { parseRequestHead, RequestHead } from '../../../src/http1/heads/request-head.ts'

const trusted = new AddressSet(['10.0.0.0/8', 'fd00::/8'])
const address = fc.oneof(
  fc.constantFrom('10.0.0.2', '10.0.0.3', 'fd00::2', '203.0.113.7', '2001:db8::7', 'unknown', '_x', ''),
  fc.ipV4(),
  fc.ipV6(),
)
const node = address.map(address => (address.includes(':') ? `"[${address}]"` : address || '""'))
const word = fc.constantFrom(
  'https',
  'http',
  'HTTPS',
  'wss',
  'javascript',
  'a b',
  'shop.test:444',
  '"',
  'https, http',
  'http,https',
  'off, on',
  '{"scheme":"https"}',
  'on',
  'false',
  '8443',
  '443, 80',
  '',
)
const schemes = [
  'X-Forwarded-Scheme',
  'X-Scheme',
  'X-Url-Scheme',
  'X-Original-Proto',
  'Forwarded-Proto',
  'CF-Visitor',
]
const securities = ['X-Forwarded-Ssl', 'Front-End-Https', 'WL-Proxy-SSL']
const field = fc.oneof(
  fc.array(address, { maxLength: 4 }).map(hops => `X-Forwarded-For: ${hops.join(', ')}`),
  fc
    .array(fc.tuple(node, fc.constantFrom('', ';proto=https', ';host=a.test', ';host="a b"', ';by=x')), {
      maxLength: 4,
    })
    .map(elements => `Forwarded: ${elements.map(([node, rest]) => `for=${node}${rest}`).join(', ')}`),
  word.map(word => `X-Forwarded-Proto: ${word}`),
  word.map(word => `X-Forwarded-Host: ${word}`),
  address.map(address => `X-Real-IP: ${address}`),
  fc
    .tuple(
      fc.constantFrom(
        ...schemes,
        ...securities,
        'X-Forwarded-Port',
        'X-Original-Host',
        'X-Host',
        'Forwarded-Host',
      ),
      word,
    )
    .map(([name, word]) => `${name}: ${word}`),
)

for (const clientAddress of ['x-forwarded-for', 'forwarded'] as const)
  test(`all fields about the client agree with ${clientAddress}`, () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 6 }), fields => {
        const text = `GET / HTTP/1.1\r\nHost: site.test\r\n${fields.map(line => `${line}\r\n`).join('')}\r\n`
        const sent = read(text)
        const x = { client: peer, head: sent, outgoing: sent, snapshot: { trusted, clientAddress } }
        const forwarded = forwardedOf(x as unknown as Exchange)!
        const client = forwarded.hops.at(-1)!
        const lines = trustedLines({ ...x, forwarded, clientAddress: client } as unknown as Exchange)
        const told = read(`GET / HTTP/1.1\r\nHost: site.test\r\n${lines}\r\n`)
        const listOf = (name: string) => valuesOf(told, name).join(', ')
        assert.equal(walk(listOf('X-Forwarded-For')), client)
        const elements = parseForwarded(listOf('Forwarded'))!
        const nodes = elements.map(({ node }) => node)
        assert.equal(walk(nodes.join()), client)
        // Many readers take the first member, whoever wrote it.
        assert.equal(listOf('X-Forwarded-For').split(', ')[0], client)
        assert.equal(nodes[0], client.includes(':') ? `[${client}]` : client)
        for (const address of valuesOf(told, 'X-Real-IP')) assert.equal(address, client)
        assert.equal(valuesOf(told, 'X-Real-IP').length, valuesOf(sent, 'X-Real-IP').length)

        const [scheme, ...others] = valuesOf(told, 'X-Forwarded-Proto')
        assert.deepEqual([others, scheme], [[], forwarded.proto ?? 'http'])
        assert.ok(scheme === 'http' || scheme === 'https')
        assert.equal(elements[0]!.proto ?? 'http', scheme)
        for (const name of schemes)
          for (const value of valuesOf(told, name))
            assert.ok(value === scheme || value === `{"scheme":"${scheme}"}`, value)
        for (const name of securities)
          for (const value of valuesOf(told, name))
            assert.ok((scheme === 'https' ? ['on', 'true'] : ['off', 'false']).includes(value), value)

        const host = forwarded.host ?? 'site.test'
        assert.deepEqual(valuesOf(told, 'X-Forwarded-Host'), [host])
        assert.notEqual(hostName(host), null)
        assert.equal(elements[0]!.host ?? 'site.test', host)
        for (const name of ['X-Original-Host', 'X-Host', 'Forwarded-Host'])
          for (const value of valuesOf(told, name))
            assert.ok(forwarded.host === null ? hostName(value) !== null : value === host, value)
        for (const port of valuesOf(told, 'X-Forwarded-Port')) {
          assert.match(port, /^\d+$/)
          if (forwarded.host === 'shop.test:444') assert.equal(port, '444')
        }
        if (elements.length > 1)
          assert.deepEqual(elements.at(-1), { node: '10.0.0.1', host: 'site.test', proto: 'http' })
      }),
      { numRuns: 1000 },
    )
  })

const peer = { peer: '10.0.0.1', node: '10.0.0.1', isTrusted: true, tls: null }

/** Finds the client as an origin does that trusts this gateway and its proxies. */
function walk(list: string): string {
  return believedHops('10.9.9.9', list, trusted).at(-1)!
}

function read(text: string): RequestHead {
  const bytes = Buffer.from(text, 'latin1')
  const head = parseRequestHead(bytes, 0, bytes.length, { url: 1024, headerSection: 65_536, headers: 100 })
  assert.ok(head instanceof RequestHead, text)
  return head
}

function valuesOf({ fields }: RequestHead, name: string): string[] {
  return fields.filter((_, i) => i % 2 === 1 && fields[i - 1]!.toLowerCase() === name.toLowerCase())
}
