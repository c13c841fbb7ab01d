// Latency of single requests, the comparison of tails, and the tables of a profile.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ROOT } from '../../../bench/load/call.ts'
import { timeRequests } from '../../../bench/profile/latency.ts'
import { profileTables } from '../../../bench/profile/profile-tables.ts'
import { compareTails } from '../../../bench/profile/tails.ts'

test('everybody is asked as often, bodies of a length and in chunks are read whole, and another status is an error', async t => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    if (request.url === '/missing') response.statusCode = 404
    // Node writes the last chunk by itself only where it comes in another turn.
    if (request.url === '/chunks') response.write('x', () => setImmediate(() => response.end()))
    else response.end('y'.repeat(100_000))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const of = (path: string) => ({ name: path, port, call: { ...ROOT, path } })
  const times = await timeRequests([of('/'), of('/chunks')], 3, 2)
  for (const path of ['/', '/chunks']) {
    assert.deepEqual(
      times.get(path)!.map(burst => burst.length),
      [2, 2, 2],
    )
    assert.ok(
      times
        .get(path)!
        .flat()
        .every(ms => ms > 0),
    )
  }
  assert.equal(asked.filter(path => path === '/').length, asked.length / 2)
  await assert.rejects(timeRequests([of('/missing')], 1, 1), /^Error: HTTP\/1\.1 404/)
})

test('tails are compared with an interval that holds what is so', () => {
  let state = 7
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const bursts = (add: number) =>
    Array.from({ length: 100 }, () => Array.from({ length: 10 }, () => 1 + random() + add))
  const { value, low, high } = compareTails(bursts(0.5), bursts(0), 50, undefined, random)
  assert.ok(low <= value && value <= high)
  assert.ok(low < 0.5 && 0.5 < high && high - low < 0.3, `${low}–${high}`)
  const same = bursts(0)
  assert.deepEqual(
    compareTails(same, same, 99, (a, b) => a / b),
    { value: 1, low: 1, high: 1 },
  )
})

test('a gateway whose streams fail has dashes in their place', () => {
  const spread = { value: 0.2, low: 0.18, high: 0.31 }
  const row = { added: { p50: spread, p99: spread }, rates: { 32: 1000 }, memory: { start: 80 } }
  const text = profileTables({
    gateways: [
      { ...row, peer: 'gatehouse', firstToken: { p50: spread, p99: spread }, goodStreams: { 32: 31 } },
      { ...row, peer: 'portkey', firstToken: null, goodStreams: null },
    ],
    governed: { 32: { ratio: 0.9, low: 0.88, high: 0.92 } },
    tails: {},
  }).replace(/ +/g, ' ')
  const tail = '0.20 (0.18–0.31)'
  assert.match(
    text,
    new RegExp(
      `\\| gatehouse \\| ${tail} \\| ${tail} \\| 1000 \\| ${tail} \\| ${tail} \\|`.replace(/[().]/g, '\\$&'),
    ),
  )
  assert.match(text, /\| portkey \|.* \| 1000 \| – \| – \|/)
  assert.match(text, /\| gatehouse \| 31 \| 80.0 \|\n\| portkey \| – \| 80.0 \|/)
  assert.match(text, /without: 0.90× \(0.88–0.92\) with 32 connections\.$/)
})
