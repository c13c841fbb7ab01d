// What an origin of HTTP/2 can do wrong, and what the client hears of it: the same as where an origin of HTTP/1.1 fails so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCode, flag, frameType } from '../../../../src/http2/frames/frames.ts'
import { originAttacks } from '../../../help/http2-origin-attacks.ts'
import { type Edge, type EdgeSettings, recordOf, startEdge } from '../../../help/edge.ts'
import { rstStream } from '../../../help/http2.ts'
import { data, frame, headers, type Http2Wire, startHttp2Origin } from '../../../help/http2-origin.ts'
import { type Origin, startOrigin } from '../../../help/origin.ts'
import { request, type Wire } from '../../../help/raw.ts'
import { turnsUntil } from '../../../help/until.ts'

const h2c = { transport: { http: 'h2c' } } as const
const ask = request('GET /', 'Accept: application/json')
const begun = [[':status', '200']] as const

interface Failure {
  readonly name: string
  readonly code: number
  /** What an origin of either version does once it has the request. */
  readonly http2: (wire: Http2Wire, stream: number) => unknown
  /** Null for what no connection of HTTP/1.1 can do. */
  readonly http1: ((wire: Wire) => unknown) | null
  readonly settings?: EdgeSettings
}

const failures: readonly Failure[] = [
  {
    name: 'ends the connection in place of a response',
    code: 520,
    http2: wire => wire.socket.end(),
    http1: wire => wire.finish(),
  },
  {
    name: 'resets the connection in place of a response',
    code: 520,
    http2: wire => wire.socket.resetAndDestroy(),
    http1: wire => wire.reset(),
  },
  {
    name: 'says nothing',
    code: 524,
    http2: () => {},
    http1: wire => wire.rest(),
    settings: { timeouts: { response: 30 } },
  },
  {
    name: 'sends a head that no one can read',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [['x', '1']])),
    http1: wire => wire.send('HTTP/1.1 2xx\r\n\r\n'),
  },
  {
    name: 'has CR and LF in a value',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [...begun, ['x-a', '1\r\nset-cookie: a=b']])),
    http1: wire => wire.send('HTTP/1.1 200 OK\r\nX-A: 1\rSet-Cookie: a=b\r\n\r\n'),
  },
  {
    name: 'has two lengths',
    code: 502,
    http2: (wire, stream) =>
      wire.send(headers(stream, [...begun, ['content-length', '1'], ['content-length', '2']])),
    http1: wire => wire.send('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'),
  },
  {
    name: 'has a body behind 204',
    code: 502,
    http2: (wire, stream) =>
      wire.send(
        headers(
          stream,
          [
            [':status', '204'],
            ['content-length', '1'],
          ],
          flag.endHeaders,
        ),
        data(stream, 'x'),
      ),
    http1: wire => wire.send('HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\nx'),
  },
  {
    name: 'has a head that is too large',
    code: 520,
    http2: (wire, stream) => {
      const fields = Array.from({ length: 700 }, (_, i) => [`x-${i}`, 'x'.repeat(100)] as const)
      const parts = [headers(stream, begun, 0)]
      for (let i = 0; i < 700; i += 100)
        parts.push(
          frame(
            frameType.continuation,
            i === 600 ? flag.endHeaders : 0,
            stream,
            headers(stream, fields.slice(i, i + 100)).subarray(9),
          ),
        )
      wire.send(...parts)
    },
    http1: wire => wire.send(`HTTP/1.1 200 OK\r\n${'X-Long: '.padEnd(70_000, 'x')}\r\n\r\n`),
  },
  {
    name: 'speaks another protocol',
    code: 520,
    http2: wire => wire.send(Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')),
    http1: wire => wire.send('SSH-2.0-OpenSSH_9.9\r\n'),
  },
  {
    name: 'gives up the stream',
    code: 520,
    http2: (wire, stream) => wire.send(rstStream(stream, errorCode.internal)),
    http1: null,
  },
  {
    name: 'says that all was done, without a response',
    code: 520,
    http2: (wire, stream) => wire.send(rstStream(stream, errorCode.none)),
    http1: null,
  },
  {
    name: 'refuses the stream again and again',
    code: 520,
    http2: (wire, stream) => wire.send(rstStream(stream, errorCode.refusedStream)),
    http1: null,
  },
  {
    name: 'has a name in capitals',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [...begun, ['X-A', '1']])),
    http1: null,
  },
  {
    name: 'has a field of connections',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [...begun, ['connection', 'close']])),
    http1: null,
  },
  {
    name: 'has its status behind a field',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [['x-a', '1'], ...begun])),
    http1: null,
  },
  {
    name: 'switches protocols',
    code: 520,
    http2: (wire, stream) => wire.send(headers(stream, [[':status', '101']], flag.endHeaders)),
    http1: null,
  },
  {
    name: 'sends a body before a head',
    code: 520,
    http2: (wire, stream) => wire.send(data(stream, 'x')),
    http1: null,
  },
  {
    name: 'ends short of its length',
    code: 502,
    http2: (wire, stream) => wire.send(headers(stream, [...begun, ['content-length', '1']])),
    http1: null,
  },
]

for (const { name, code, http1, http2, settings = {} } of failures)
  test(`an origin that ${name} is ${code}`, async t => {
    const origin = await startHttp2Origin(t, async wire => {
      for (let stream = await wire.request(); stream !== 0; stream = await wire.request())
        await http2(wire, stream)
    })
    const edge = await startEdge(t, [origin.url], { ...h2c, ...settings })
    const outcome = await outcomeOf(edge)
    assert.equal(outcome.record.error_code, code)
    if (http1 === null) return
    const other: Origin = await startOrigin(t, async wire => {
      await wire.request()
      await http1(wire)
    })
    const same = await outcomeOf(await startEdge(t, [other.url], settings))
    assert.deepEqual(outcome, same)
  })

/** Tells the record of a failure without what is never the same, and its cause in the log. */
async function outcomeOf(edge: Edge) {
  const { ray_id, timestamp, instance, ...record } = recordOf(await edge.ask(ask)) as Record<string, unknown>
  const { error, cause, phase } = edge.accesses.at(-1)! as Record<string, unknown>
  return { record, logged: { error, cause, phase } }
}

for (const [name, [reason, bytes]] of Object.entries(originAttacks))
  test(`${name} costs an origin that connection`, async t => {
    let isFirst = true
    const origin = await startHttp2Origin(t, async wire => {
      for (let stream = await wire.request(); stream !== 0; stream = await wire.request()) {
        if (isFirst) wire.send(bytes(stream))
        else wire.answer(stream, 'fine')
        isFirst = false
      }
    })
    const edge = await startEdge(t, [origin.url], h2c)
    const client = await edge.connect()
    // A reader that keeps up opens windows as fast as they are used.
    client.socket.pause()
    await client.send(request('GET /'))
    await turnsUntil(() => edge.metrics.originHttp2Faults[reason as 'flood'].value === 1)
    assert.equal((await edge.ask(request('GET /'))).text, 'fine')
    assert.equal(origin.wires.length, 2)
  })
