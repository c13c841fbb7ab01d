// The cases that node test/conformance/http1.ts runs, so that they and their driver stay right.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { RawOrigin } from './http1/origin.ts'
import { http1Cases, runHttp1Case } from './http1/run.ts'
import { addressOf, idsOf, inTurns } from './run.ts'

const ids = idsOf(http1Cases)

/** Runs the cases with these ids, or all, and returns what did not pass. */
async function failures(t: TestContext, origin: RawOrigin, port: number, wanted?: readonly string[]) {
  const cases = http1Cases
    .map((of, i) => ({ of, id: ids[i]! }))
    .filter(({ id }) => wanted?.includes(id) ?? true)
  t.after(() => origin.close())
  const verdicts = await inTurns(cases, async ({ of, id }, i) => {
    const verdict = await runHttp1Case(of, origin, { port, tls: false, from: addressOf(i) })
    return verdict.result === 'passed' ? null : { id, title: of.title, ...verdict }
  })
  return verdicts.filter(verdict => verdict !== null)
}

test('all cases pass', async t => {
  const origin = await new RawOrigin().listen()
  const edge = await startEdge(t, [`http://127.0.0.1:${origin.port}`], { zone: { isDefault: true } })
  assert.deepEqual(await failures(t, origin, edge.port), [])
  assert.ok(ids.length > 200)
})

test('a proxy that passes all bytes on fails what must be refused or changed', async t => {
  const origin = await new RawOrigin().listen()
  const tunnel = createServer(socket => {
    const other = connect({ port: origin.port, host: '127.0.0.1' })
    for (const end of [socket, other]) end.on('error', () => {})
    socket.pipe(other).pipe(socket)
  })
  tunnel.listen(0, '127.0.0.1')
  await once(tunnel, 'listening')
  t.after(() => tunnel.close())
  const { port } = tunnel.address() as AddressInfo
  const wanted = ['RFC 9112 3.2/1', 'RFC 9110 7.6.1/1', 'RFC 9110 7.6.3/1', 'RFC 9110 6.6.1/1']
  const results = await failures(t, origin, port, wanted)
  assert.deepEqual(
    results.map(({ id, result }) => `${id} ${result}`).toSorted(),
    wanted.map(id => `${id} failed`).toSorted(),
  )
})
