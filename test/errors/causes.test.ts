// What the causes in the catalogue name, sent to a gateway: each gives the error under which operators read it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorName } from '../../src/errors/catalogue/catalogue.ts'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

const ends = 'Accept: application/json\r\n\r\n'
const get = (host: string, more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}${ends}`

const causes: readonly [error: ErrorName, cause: string, request: string][] = [
  ['bad_request', 'none in HTTP/1.1', `GET / HTTP/1.1\r\n${ends}`],
  ['bad_request', 'a repeated Host', get('site.test', 'Host: site.test\r\n')],
  [
    'bad_request',
    'a malformed chunk',
    `${get('site.test', 'Transfer-Encoding: chunked\r\n').replace('/', '/served')}x\r\n`,
  ],
  ['direct_ip_access', 'missing in a request of HTTP/1.0', `GET / HTTP/1.0\r\n${ends}`],
  ['direct_ip_access', 'an IP address that no zone claims', get('192.0.2.1')],
  ['dns_resolution_failed', 'matches no zone', get('under_score.test')],
  ['dns_resolution_error', 'none of its routes leads the path', get('site.test')],
  ['host_invalid', 'neither a valid hostname nor an IP address', get('a%41.test')],
  ['host_invalid', 'its port is no number', get('site.test:http')],
  ['host_invalid', 'the authority of an absolute target', `GET http://a%41.test/ HTTP/1.0\r\n${ends}`],
  [
    'expectation_failed',
    'another than a single 100-continue',
    get('site.test', 'Expect: 100-continue, x\r\n'),
  ],
  ['not_implemented', 'codings under chunked', get('site.test', 'Transfer-Encoding: gzip, chunked\r\n')],
  ['uri_too_long', 'the line by itself over limits.header_section', `GET /${'x'.repeat(2_000)}`],
]

for (const [error, cause, request] of causes) {
  test(`${error}: ${cause}`, async t => {
    const origin = await startResponder(t, ok())
    const edge = await startEdge(t, [origin.url], {
      route: { path: '/served' },
      limits: { headerSection: 1024 },
    })
    const client = await edge.connect()
    await client.send(request)
    assert.match((await client.response()).text, new RegExp(`\\b${error}\\b`))
  })
}
