import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ResponseHandler } from '../../../src/edge/origin/response-handler.ts'
import type { Lease } from '../../../src/edge/origin/lease.ts'
import { ResponseReader } from '../../../src/edge/origin/response-reader.ts'
import type { Phase } from '../../../src/errors/catalogue/phase.ts'

interface Circumstances {
  readonly method?: string
  readonly wantsUpgrade?: boolean
  /** Whether the response shows that the handshake was understood. */
  readonly acceptsUpgrade?: boolean
  readonly phase?: Phase
  /** Bytes of the request that the system has not taken yet. */
  readonly unsent?: number
}

/** Reads the responses to one request after the other; what came of them in order, bodies joined. */
function start({
  method = 'GET',
  wantsUpgrade = false,
  acceptsUpgrade = true,
  phase = 'wait',
  unsent = 0,
}: Circumstances = {}) {
  const events: string[] = []
  const note = (what: string) => void events.push(what)
  const handler = {
    method,
    wantsUpgrade,
    interim: ({ status }: { status: number }) => note(`interim ${status}`),
    head: ({ status }: { status: number }) => note(`head ${status}`),
    data: (bytes: Buffer) =>
      events.at(-1)?.startsWith(':')
        ? void (events[events.length - 1] += bytes.toString())
        : note(`:${bytes}`),
    end: () => note('end'),
    acceptsUpgrade: () => acceptsUpgrade,
    switchProtocols: () => ({ tunnelData: (bytes: Buffer) => note(`tunnel ${bytes}`) }),
  } as unknown as ResponseHandler
  const taker = {
    fail(way: string) {
      note(way)
      lease.isHeld = false
    },
  }
  const lease = { handler, phase, hasResponseBegun: false, isHeld: true, tunnel: null }
  const reader = new ResponseReader(taker, { writableLength: unsent } as Socket)
  const read = (text: string) => {
    if (lease.isHeld) reader.read(lease as unknown as Lease, Buffer.from(text, 'latin1'))
  }
  return { reader, lease, events, read }
}

/** Reads one response; returns what came of it, and whether another request may follow. */
function outcomeOf(response: string, circumstances?: Circumstances): readonly unknown[] {
  const { reader, events, read } = start(circumstances)
  read(response)
  return [...events, reader.mayReuse]
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n'

test('a response is the same however it is cut into packets', () => {
  const response = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${chunked}`
  const cuts = fc.array(fc.integer({ min: 1, max: response.length - 1 }), { maxLength: 20 })
  fc.assert(
    fc.property(cuts, places => {
      const { reader, lease, events, read } = start()
      let from = 0
      for (const to of [...new Set(places), response.length].sort((a, b) => a - b)) {
        read(response.slice(from, to))
        from = to
      }
      assert.deepEqual(events, ['interim 100', 'interim 103', 'head 200', ':abcdefg', 'end'])
      assert.deepEqual([reader.mayReuse, lease.phase, lease.hasResponseBegun], [true, 'receive', true])
    }),
  )
})

test('a connection serves on only where what it brought was one whole response to one whole request', () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  assert.deepEqual(outcomeOf(ok), ['head 200', ':ok', 'end', true])
  assert.deepEqual(outcomeOf(`${ok}HTTP/1.1`), ['head 200', ':ok', 'end', false])
  assert.deepEqual(outcomeOf(ok, { phase: 'send' }), ['head 200', ':ok', 'end', false])
  assert.deepEqual(outcomeOf(ok, { unsent: 1 }), ['head 200', ':ok', 'end', false])
  assert.deepEqual(outcomeOf(ok.replace('\r\n', '\r\nConnection: close\r\n')), [
    'head 200',
    ':ok',
    'end',
    false,
  ])
  assert.deepEqual(outcomeOf('HTTP/1.1 200 OK\r\n\r\nok'), ['head 200', ':ok', false])
})

test('the next response is read from its beginning', () => {
  const { reader, lease, events, read } = start()
  read(`${chunked}HTTP`)
  assert.equal(reader.mayReuse, false)
  Object.assign(lease, { phase: 'wait', hasResponseBegun: false })
  reader.begin()
  assert.equal(reader.mayReuse, true)
  read('HTTP/1.1 204 No Content\r\n\r\n')
  assert.deepEqual(events.slice(3), ['head 204', 'end'])
})

test('a body where none may be is no response, but behind that to a HEAD its connection is only listened to', () => {
  const { reader, events, read } = start()
  read('HTTP/1.1 204 No Content\r\n\r\nbody')
  assert.deepEqual(events, ['GH_BAD_FRAMING'])
  const restAfter = (head: string, method: string) => {
    const { reader, read } = start({ method })
    read(head)
    return reader.rest
  }
  assert.equal(restAfter('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', 'HEAD'), 'while')
  assert.equal(restAfter('HTTP/1.1 304 Not Modified\r\n\r\n', 'GET'), 'turn')
  assert.equal(restAfter('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'GET'), 'none')
  assert.equal(reader.grantedIdle, -1)
})

test('a head may have 64 KiB, whole or not', () => {
  const headOf = (bytes: number) => {
    const start = 'HTTP/1.1 204 No Content\r\nA: '
    return `${start}${'x'.repeat(bytes - start.length - 4)}\r\n\r\n`
  }
  assert.deepEqual(outcomeOf(headOf(65_536)), ['head 204', 'end', true])
  assert.deepEqual(outcomeOf(headOf(65_537))[0], 'GH_HEAD_TOO_LARGE')
  assert.deepEqual(outcomeOf(headOf(70_000).slice(0, 65_536)), [true])
  assert.deepEqual(outcomeOf(headOf(70_000).slice(0, 65_537))[0], 'GH_HEAD_TOO_LARGE')
})

test('what is no HTTP fails at its first bytes, and so do a bad head and a broken body', () => {
  for (const bytes of ['SSH', 'HTTP/2', '\u0015\u0003', 'HTTP/1.1 20', 'h']) {
    const isHttp = 'HTTP/1.'.startsWith(bytes.slice(0, 7))
    assert.deepEqual(outcomeOf(bytes), isHttp ? [true] : ['GH_BAD_HEAD', true], bytes)
  }
  assert.equal(outcomeOf('HTTP/1.1 two OK\r\n\r\n')[0], 'GH_BAD_HEAD')
  assert.equal(
    outcomeOf('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n')[0],
    'GH_BAD_FRAMING',
  )
  assert.deepEqual(outcomeOf('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n').slice(0, 2), [
    'head 200',
    'GH_BAD_FRAMING',
  ])
})

test('protocols are switched only as was asked, and what follows is of the other protocol', () => {
  const to = (protocol: string) =>
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\nhello`
  assert.deepEqual(outcomeOf(to('WebSocket'), { wantsUpgrade: true }), ['tunnel hello', false])
  assert.equal(outcomeOf(to('h2c'), { wantsUpgrade: true })[0], 'GH_BAD_UPGRADE')
  assert.equal(outcomeOf(to('websocket'), { wantsUpgrade: true, acceptsUpgrade: false })[0], 'GH_BAD_UPGRADE')
  assert.equal(outcomeOf(to('websocket'))[0], 'GH_BAD_UPGRADE')
})

test('the end of the connection ends a body without a length, and no other', () => {
  const endOf = (response: string) => {
    const { reader, lease, events, read } = start()
    read(response)
    reader.end(lease as unknown as Lease)
    return events.at(-1)
  }
  assert.equal(endOf('HTTP/1.1 200 OK\r\n\r\nall'), 'end')
  assert.equal(endOf('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nall'), ':all')
  assert.equal(endOf('HTTP/1.1 200 OK\r\n'), undefined)
})
