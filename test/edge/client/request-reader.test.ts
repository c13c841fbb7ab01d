import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import type { Lifetime } from '../../../src/edge/client/lifetime.ts'
import { RequestReader } from '../../../src/edge/client/request-reader.ts'
import { Exchange, type RequestHandler } from '../../../src/edge/exchange/exchange.ts'
import type { BodyReader } from '../../../src/http1/body/body.ts'
import { stepsOver } from '../../help/exchange.ts'
import { chunks, request } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

/** What a reader found, and the socket that it reads from. */
function start(t: TestContext, { servesAtOnce }: { servesAtOnce: boolean }) {
  const steps = stepsOver(t, [])
  const { plane } = steps
  const { client } = steps.exchange(request('GET /'))
  const seen: string[] = []
  const asked: string[] = []
  const socket = {
    writableNeedDrain: false,
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
  }
  const lifetime = {
    isOpen: true,
    headBegun: () => asked.push('headBegun'),
    receivedAfterClose: (bytes: number) => asked.push(`${bytes} behind`),
  }
  const taker = {
    exchange: null as Exchange | null,
    begin(head: ConstructorParameters<typeof Exchange>[2], body: BodyReader) {
      const x = new Exchange(plane, client, head, body, 'ray')
      taker.exchange = x
      seen.push(`${head.method} ${head.target}`)
      x.handler = {
        body: (bytes: Buffer) => seen.push(bytes.toString()),
        flushBody() {},
      } as unknown as RequestHandler
      reader.isBodyWanted = true
      if (servesAtOnce && x.requestBody.done) taker.exchange = null
    },
    refuse: (fault: string) => {
      seen.push(fault)
      lifetime.isOpen = false
    },
    refuseBody: (x: Exchange, { error }: { error: string }) => {
      seen.push(`${x.head.target} ${error}`)
      taker.exchange = null
      lifetime.isOpen = false
    },
    bodyDone() {
      seen.push('end')
      taker.exchange = null
    },
    readAfterFin: () => seen.push(`ended ${reader.isCutShort}`),
    crashed: (bug: unknown) => {
      throw bug
    },
  }
  const reader = new RequestReader(taker, socket as unknown as Socket, plane, lifetime as unknown as Lifetime)
  return { reader, taker, socket, lifetime, seen, asked }
}

/** Joins what came of one body. */
function joined(seen: readonly string[]): string {
  return seen.join('\n').replace(/(?<=x)\n(?=x)/g, '')
}

test('requests that follow each other are found however they are cut into packets', async t => {
  const sent = [
    request('GET /1'),
    `${request('POST /2', 'Content-Length: 5')}xxxxx`,
    `${request('POST /3', 'Transfer-Encoding: chunked')}${chunks('xxx', 'xxxx')}0\r\n\r\n`,
    request('GET /4'),
  ].join('')
  const expected = ['GET /1', 'POST /2', 'xxxxx', 'end', 'POST /3', 'xxxxxxx', 'end', 'GET /4']
  const cuts = fc.array(fc.integer({ min: 1, max: sent.length - 1 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(cuts, async places => {
      const { reader, seen } = start(t, { servesAtOnce: true })
      const ends = [...new Set(places), sent.length].sort((a, b) => a - b)
      let from = 0
      for (const to of ends) {
        reader.receive(Buffer.from(sent.slice(from, to)))
        from = to
        await until(() => !reader.isReadPlanned)
      }
      assert.equal(joined(seen), expected.join('\n'))
      assert.equal(reader.pending, null)
    }),
    { numRuns: 100 },
  )
})

test('the next request waits while one is served, and so does the client that sends far ahead', t => {
  const { reader, taker, seen, asked } = start(t, { servesAtOnce: false })
  reader.receive(Buffer.from(request('GET /1') + request('GET /2')))
  assert.deepEqual([seen, asked], [['GET /1'], []])
  reader.receive(Buffer.alloc(70_000, 'x'))
  assert.deepEqual(asked, ['pause'])
  taker.exchange = null
  reader.read()
  assert.deepEqual(seen, ['GET /1', 'GET /2'])
})

test('a client that does not read its responses is served nothing more', t => {
  const { reader, socket, seen } = start(t, { servesAtOnce: true })
  socket.writableNeedDrain = true
  reader.receive(Buffer.from(request('GET /1')))
  assert.deepEqual(seen, [])
  socket.writableNeedDrain = false
  reader.read()
  assert.deepEqual(seen, ['GET /1'])
})

test('one turn of the loop reads one of many requests that are refused at once', async t => {
  const { reader, seen } = start(t, { servesAtOnce: true })
  reader.receive(Buffer.from(request('GET /1') + request('GET /2') + request('GET /3')))
  assert.deepEqual([seen, reader.isReadPlanned], [['GET /1'], true])
  await turn()
  await turn()
  assert.deepEqual([seen, reader.isReadPlanned], [['GET /1', 'GET /2', 'GET /3'], false])
})

test('a body that nobody wants yet stays with the client', t => {
  const { reader, seen, asked } = start(t, { servesAtOnce: false })
  reader.receive(Buffer.from(request('POST /', 'Content-Length: 4')))
  reader.isBodyWanted = false
  reader.receive(Buffer.from('xxxx'))
  assert.deepEqual([seen, asked], [['POST /'], ['pause']])
  reader.isBodyWanted = true
  reader.read()
  assert.deepEqual(seen, ['POST /', 'xxxx', 'end'])
})

test('a body that is over its limit, or broken, is refused and nothing behind it is read', t => {
  const over = start(t, { servesAtOnce: true })
  over.reader.receive(Buffer.from(request('POST /over', 'Transfer-Encoding: chunked')))
  over.taker.exchange!.bodyLimit = 3
  over.reader.receive(Buffer.from(`${chunks('xxx', 'x')}0\r\n\r\n${request('GET /next')}`))
  assert.deepEqual(over.seen, ['POST /over', 'xxx', '/over content_too_large'])
  const broken = start(t, { servesAtOnce: true })
  broken.reader.receive(
    Buffer.from(`${request('POST /broken', 'Transfer-Encoding: chunked')}zz\r\n${request('GET /next')}`),
  )
  assert.deepEqual(broken.seen, ['POST /broken', '/broken bad_request'])
})

test('bytes that are no request are refused; the time for a head counts from its first part', t => {
  const { reader, seen, asked } = start(t, { servesAtOnce: true })
  reader.receive(Buffer.from('GET / HT'))
  reader.receive(Buffer.from('TP/1'))
  assert.deepEqual([seen, asked], [[], ['headBegun']])
  reader.receive(Buffer.from('\n\n'))
  assert.deepEqual(seen, ['bad_request'])
  reader.pending = null
  reader.receive(Buffer.from(request('GET /')))
  assert.equal(reader.pending, null, 'a connection that closes takes nothing more')
  assert.deepEqual(asked, ['headBegun', `${request('GET /').length} behind`])
})

test('unfinished requests of a client that ended are cut short, and complete ones are not', t => {
  const { reader, taker, seen } = start(t, { servesAtOnce: false })
  reader.receive(Buffer.from(request('POST /', 'Content-Length: 4')))
  assert.equal(reader.isCutShort, false)
  reader.isEnded = true
  assert.equal(reader.isCutShort, true)
  reader.receive(Buffer.from('xxxx'))
  assert.deepEqual(seen, ['POST /', 'xxxx', 'end', 'ended true'])
  reader.receive(Buffer.from(request('GET /')))
  assert.deepEqual([taker.exchange!.head.method, reader.isCutShort], ['GET', false])
})
