// The cases that node test/conformance/http2.ts runs, so that they and their driver stay right.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { flag, frameType } from '../../src/http2/frames/frames.ts'
import { startEdge } from '../help/edge.ts'
import { frame, framesOf, preface, settings, settingsAck } from '../help/http2.ts'
import { http2Cases, runHttp2Case } from './http2/run.ts'
import { startOrigin } from './origin.ts'
import { addressOf, idsOf, inTurns } from './run.ts'

const ids = idsOf(http2Cases)
const named = http2Cases.map((of, i) => ({ of, id: ids[i]! }))

test('all cases pass without TLS', async t => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const edge = await startEdge(t, [`http://127.0.0.1:${origin.port}`], {
    h2c: true,
    zone: { isDefault: true },
  })
  const cases = named.filter(({ of }) => of.only !== 'tls')
  const verdicts = await inTurns(cases, async ({ of, id }, i) => {
    const verdict = await runHttp2Case(of, { port: edge.port, tls: false, from: addressOf(i) })
    return verdict?.result === 'passed' ? null : { id, title: of.title, ...verdict }
  })
  assert.deepEqual(
    verdicts.filter(verdict => verdict !== null),
    [],
  )
  assert.ok(cases.length >= 300)
})

test('the cases have titles of their own within a section', () => {
  const titles = http2Cases.map(({ section, title }) => `${section} ${title}`)
  assert.deepEqual(
    titles.filter((title, i) => titles.indexOf(title) !== i),
    [],
  )
})

test('a peer that takes everything and serves nothing passes no case of an error or a response', async t => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.write(Buffer.concat([settings(), settingsAck]))
    socket.once('data', (first: Buffer) => {
      const read = (bytes: Buffer) => {
        for (const { type, flags, payload } of framesOf(bytes))
          if (type === frameType.ping && flags === 0)
            socket.write(frame(frameType.ping, flag.ack, 0, payload))
      }
      read(first.subarray(preface.length))
      socket.on('data', read)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const wanted = ['5.1/1', '6.5.2/3', '6.9.1/6', 'RFC 7541 2.3.3/1']
  const verdicts = named
    .filter(({ id }) => wanted.includes(id))
    .map(({ of }) => runHttp2Case(of, { port, tls: false, from: '127.0.0.1' }))
  const failed = { result: 'failed', note: 'the connection goes on' }
  assert.deepEqual(
    await Promise.all(verdicts),
    wanted.map(() => failed),
  )
})
