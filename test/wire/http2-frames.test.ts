// HTTP/2 as no library sends it: what breaks it or floods it costs its sender, and no origin and nobody else.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { errorCode, flag, frameType } from '../../src/http2/frames/frames.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { Edge, type EdgeParts, type EdgeSettings, edgeConfig, listenAt } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { startHttp2Origin } from '../help/http2-origin.ts'
import {
  block,
  codeOf,
  data,
  type Frame,
  frame,
  framesOf,
  headers,
  type Pairs,
  preface,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from '../help/http2.ts'
import { ok, type Respond, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { until } from '../help/until.ts'

const authority: Pairs[number] = [':authority', 'site.test']
const get: Pairs = [[':method', 'GET'], [':scheme', 'http'], [':path', '/'], authority]
const post: Pairs = [[':method', 'POST'], ...get.slice(1)]
const wholeHeaders = flag.endHeaders

/** A client that sends frames by hand. */
class Frames {
  readonly ended: Promise<unknown>
  #bytes: Buffer = Buffer.alloc(0)
  readonly #socket

  constructor(t: TestContext, port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.on('error', () => {})
    this.#socket.on('data', bytes => {
      this.#bytes = Buffer.concat([this.#bytes, bytes as Buffer])
    })
    this.ended = new Promise(resolve => this.#socket.on('close', resolve))
    t.after(() => this.#socket.destroy())
    this.send(preface, settings(), settingsAck)
  }

  send(...bytes: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(bytes))
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause()
  }

  get frames(): Frame[] {
    let whole = 0
    while (
      whole + 9 <= this.#bytes.length &&
      whole + 9 + this.#bytes.readUIntBE(whole, 3) <= this.#bytes.length
    )
      whole += 9 + this.#bytes.readUIntBE(whole, 3)
    return framesOf(this.#bytes.subarray(0, whole))
  }

  /** Waits for the end of a stream; returns the code of its reset, null for a response that is whole. */
  async endOf(stream: number): Promise<number | null> {
    const ends = ({ type, flags, stream: of }: Frame) =>
      of === stream && (type === frameType.rstStream || (flags & flag.endStream) !== 0)
    await until(() => this.frames.some(ends))
    return codeOf(this.frames, stream)
  }
}

async function start(
  t: TestContext,
  answer: Respond | string | { readonly script: Script } = ok('hello'),
  settings: EdgeSettings = {},
  parts: EdgeParts = {},
) {
  const isScript = typeof answer === 'object'
  const origin = isScript ? await startOrigin(t, answer.script) : await startResponder(t, answer)
  const config = edgeConfig([origin.url], { ...settings, h2c: true })
  const edge = await listenAt(t, new Edge(t, config, parts))
  return { origin, edge, client: new Frames(t, edge.port) }
}

test('requests that two parsers could read differently reach no origin', async t => {
  const { client, origin } = await start(t)
  const bad: Pairs[] = [
    [...get, ['X-Upper', '1']],
    [...get, ['x-a', 'b\r\nx-c: d']],
    [...get, ['x-a', 'b\nc']],
    [...get, ['x-a', 'b\0']],
    [...get, ['x-a', ' b']],
    [...get, ['connection', 'close']],
    [...get, ['transfer-encoding', 'chunked']],
    [...get, ['te', 'gzip']],
    [...get, ['upgrade', 'h2c']],
    [...get, authority],
    [...get, ['host', 'other.test']],
    [...get, ['host', 'site.test'], ['host', 'site.test']],
    [['x-a', '1'], ...get],
    get.filter(([name]) => name !== ':path'),
    [[':method', 'GET'], [':scheme', 'http'], [':path', '/a b'], authority],
    [[':method', 'GET'], [':scheme', 'http'], [':path', 'http://other.test/'], authority],
    [[':method', 'GET /x HTTP/1.1\r\n'], ...get.slice(1)],
  ]
  let stream = -1
  for (const fields of bad) {
    stream += 2
    client.send(headers(stream, fields))
    await client.endOf(stream)
  }
  stream += 2
  client.send(
    headers(stream, [...post, ['content-length', '3']], wholeHeaders),
    data(stream, 'abcd', flag.endStream),
  )
  assert.equal(await client.endOf(stream), errorCode.protocol)
  client.send(headers(stream + 4, [[':method', 'CONNECT'], authority]))
  assert.equal(await client.endOf(stream + 4), null)
  stream += 4
  assert.equal(origin.requests.length, 0)
  client.send(headers(stream + 2, get))
  assert.equal(await client.endOf(stream + 2), null)
  assert.equal(origin.requests.length, 1)
})

test('a client that opens and resets requests is disconnected, and counted; others go on', async t => {
  const clock = new ManualClock()
  const { client, edge, origin } = await start(t, ok('hello'), {}, { clock })
  const other = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const flood: Buffer[] = []
  for (let i = 0; i < 3_000; i++) flood.push(headers(2 * i + 1, get), rstStream(2 * i + 1))
  client.send(...flood)
  assert.equal((await ask(other)).status, 200)
  await client.ended
  assert.equal(codeOf(client.frames, 0), errorCode.enhanceYourCalm)
  assert.equal(edge.metrics.http2Failures.resets.value, 1)
  assert.equal((await ask(other)).status, 200)
  assert.ok(origin.wires.length < 500)
  await until(() => edge.metrics.clientConnections.value === 1)
  // To connect again renews little: a client that is new may reset 200, and one that has just done so 40.
  const again = new Frames(t, edge.port)
  again.send(...flood.slice(0, 100))
  await again.ended
  assert.equal(edge.metrics.http2Failures.resets.value, 2)
})

test('streams beyond the limit are refused, and may be tried again', async t => {
  const { client } = await start(t, { script: wire => wire.ending })
  for (let i = 0; i < 129; i++) client.send(headers(2 * i + 1, get))
  assert.equal(await client.endOf(257), errorCode.refusedStream)
})

test('a header section over the limit is refused as over HTTP/1.1, or ends the connection', async t => {
  const { client, edge } = await start(t, ok('hello'), { limits: { headerSection: 4_096 } })
  const field: Pairs[number] = ['x-long', 'x'.repeat(120)]
  client.send(headers(1, [...get, ...Array.from({ length: 30 }, () => field)]))
  assert.equal(await client.endOf(1), null)
  await until(() => edge.accesses.length === 1)
  assert.equal(edge.accesses[0]!.error, 'http_headers_exceed_limit')
  client.send(headers(3, get, 0))
  for (let i = 0; i < 40; i++) client.send(frame(frameType.continuation, 0, 3, 'x'.repeat(1_000)))
  await client.ended
  assert.equal(codeOf(client.frames, 0), errorCode.enhanceYourCalm)
  assert.equal(edge.metrics.http2Failures.header_block.value, 1)
})

test('an origin waits for a client that allows no more of the response, which is reset in the end', async t => {
  const clock = new ManualClock()
  const script: Script = async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${1e9}\r\n\r\n`)
    await wire.pour()
  }
  const settings = { client: { ...patient.client, responseRate: 500 }, timeouts: { idle: 0 } }
  const { client, edge } = await start(t, { script }, settings, { clock })
  client.send(headers(1, get))
  await until(() => client.frames.some(({ type }) => type === frameType.data))
  client.send(windowUpdate(0, 10_000_000))
  const beat = setInterval(() => clock.advance(1_000), 20)
  t.after(() => clearInterval(beat))
  assert.equal(await client.endOf(1), errorCode.cancel)
  const bytes = client.frames
    .filter(({ type }) => type === frameType.data)
    .reduce((sum, { payload }) => sum + payload.length, 0)
  assert.equal(bytes, 65_535)
  assert.equal(edge.metrics.slowClients.response.value, 1)
  await until(() => edge.metrics.originConnections.value === 0)
})

test('a client waits for an origin that does not read its body', async t => {
  const { client, edge } = await start(t, {
    script: async wire => {
      wire.socket.pause()
      await once(wire.socket, 'close')
    },
  })
  client.send(headers(1, post, wholeHeaders))
  // Windows are given back only as the origin reads, so that these come to an end.
  let sent = 0
  const allowed = () =>
    65_535 +
    client.frames
      .filter(({ type, stream }) => type === frameType.windowUpdate && stream === 1)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
  const pour = async (): Promise<void> => {
    for (let idle = 0; idle < 50; ) {
      const room = Math.min(16_384, allowed() - sent)
      if (room > 0) {
        client.send(data(1, Buffer.alloc(room)))
        sent += room
        idle = 0
      } else idle++
      await new Promise(resolve => setTimeout(resolve, 2))
    }
  }
  await pour()
  assert.ok(sent < 16 * 1024 * 1024, `${sent}`)
  assert.equal(edge.metrics.clientConnections.value, 1)
  client.send(rstStream(1))
  await until(() => edge.accesses.length === 1)
})

test('fields that must never be indexed are not on the next hop either', async t => {
  const never = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([0x10, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ])
  const begun = (secret: boolean) =>
    Buffer.concat([
      block([':status', '200'], ['x-public', '1']),
      ...(secret ? [never('x-secret', 'two')] : []),
    ])
  let isSecret = true
  const origin = await startHttp2Origin(t, async wire => {
    for (let stream = await wire.request(); stream !== 0; stream = await wire.request()) {
      wire.send(frame(frameType.headers, flag.endHeaders, stream, begun(isSecret)), data(stream, 'hello'))
      wire.send(frame(frameType.headers, flag.endHeaders | flag.endStream, stream, never('x-late', 'three')))
    }
  })
  const config = edgeConfig([origin.url], { h2c: true, transport: { http: 'h2c' } })
  const edge = await listenAt(t, new Edge(t, config))
  const client = new Frames(t, edge.port)
  const blockOf = (frames: readonly Frame[], of: number, nth = 0) =>
    frames.filter(({ type, stream }) => type === frameType.headers && stream === of)[nth]!.payload
  client.send(frame(frameType.headers, 5, 1, Buffer.concat([block(...get), never('x-secret', 'one')])))
  assert.equal(await client.endOf(1), null)
  assert.ok(blockOf(origin.wires[0]!.frames, 1).includes(never('x-secret', 'one')))
  assert.ok(blockOf(client.frames, 1).includes(never('x-secret', 'two')))
  assert.ok(blockOf(client.frames, 1, 1).includes(never('x-late', 'three')))
  // A response without such a field may be indexed.
  isSecret = false
  client.send(headers(3, get))
  assert.equal(await client.endOf(3), null)
  assert.ok(blockOf(client.frames, 3).includes(block(['x-public', '1'])))
})
