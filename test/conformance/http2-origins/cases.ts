// What origins may send over HTTP/2, in RFC 9113 and RFC 7541 by section, and what a gateway must make of it.

import { flag, frameType, setting as id } from '../../../src/http2/frames/frames.ts'
import { data, frame, rstStream, settings, uint32, windowUpdate } from '../../help/http2.ts'
import type { Connection } from '../http2/connection.ts'
import { endOf } from '../http2/expect.ts'
import { added, block, type Field, huffman, indexed, literal, tableSize } from '../http2/hpack.ts'
import {
  begun,
  brokenConnection,
  brokenLater,
  brokenStream,
  heading,
  looks,
  must,
  type OriginCase,
  posting,
  reaches,
  readingLate,
  section,
  setting,
  should,
} from './expect.ts'

const end = flag.endStream
const ok: Field = [':status', '200']
const maxWindow = 0x7fff_ffff

/** Responds with `hello` and these fields. */
function respond(connection: Connection, stream: number, ...more: readonly Field[]): void {
  connection.headers(stream, [ok, ...more], begun)
  connection.send(data(stream, 'hello', end))
}

/** Sends something, and a whole response after it. */
const before = (make: (stream: number) => readonly Buffer[]) => (connection: Connection, stream: number) => {
  connection.send(...make(stream))
  respond(connection, stream)
}

/** Begins a response, and sends something in place of its end. */
const after = (make: (stream: number) => readonly Buffer[]) => (connection: Connection, stream: number) => {
  connection.headers(stream, [ok], begun)
  connection.send(...make(stream))
}

/** A response with these fields, whole. */
const withFields =
  (...fields: readonly Field[]) =>
  (connection: Connection, stream: number) => {
    connection.headers(stream, fields, begun)
    connection.send(data(stream, 'hello', end))
  }

const hello = reaches(200, 'hello')
const malformed = brokenStream('protocol')
const invalid = brokenConnection('compression')

/** Looks at the body of a second request, which comes with all settings known, step by step. */
const upload = (
  length: number,
  ...steps: readonly (readonly [bytes: number, then?: (stream: number) => readonly Buffer[]])[]
) =>
  looks(`${steps.map(([bytes]) => bytes).join(', ')} bytes of the body`, async outcome => {
    const { connection } = outcome
    await outcome.reply
    const reply = outcome.ask('POST', length)
    const stream = await second(connection, outcome.stream)
    if (stream === 0) return 'no second request on the connection'
    for (const [bytes, then] of steps) {
      await connection.until(() => connection.on(stream).body.length >= bytes)
      await connection.settled()
      const { length } = connection.on(stream).body
      if (length !== bytes) return `${length} bytes in place of ${bytes}`
      if (then !== undefined) connection.send(...then(stream))
    }
    respond(connection, stream)
    const { status } = await reply
    return status === 200 ? null : `the client got ${status}`
  })

/** Looks at the fields of the request. */
const requestHas = (words: string, look: (fields: readonly (readonly [string, string])[]) => string | null) =>
  looks(words, async ({ connection, stream, reply }) => {
    await reply
    return look(connection.on(stream).sections[0] ?? [])
  })

/** Waits for a second request on the same connection; 0 if there is none. */
async function second(connection: Connection, first: number): Promise<number> {
  const next = () =>
    connection.frames.find(({ type, stream }) => type === frameType.headers && stream > first)
  await connection.until(() => next() !== undefined)
  return next()?.stream ?? 0
}

const hop = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']

export const originCases: readonly OriginCase[] = [
  ...section(
    '3.4',
    must(
      'the preface comes first, with SETTINGS',
      looks('the preface and SETTINGS', async ({ connection, reply }) => {
        await reply
        const first = connection.frames[0]!
        if (connection.flaw !== null) return connection.flaw
        return first.type === frameType.settings && first.flags === 0 ? null : `frame of type ${first.type}`
      }),
      respond,
    ),
    setting(
      null,
      must('a PING in place of SETTINGS', brokenConnection('protocol'), connection =>
        connection.send(frame(frameType.ping, 0, 0, '12345678')),
      ),
    ),
    setting(null, must('a response in place of SETTINGS', brokenConnection('protocol'), respond)),
    setting(
      null,
      must('HTTP/1.1', brokenConnection('protocol', 'frameSize'), connection =>
        connection.sendRaw('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
      ),
    ),
  ),
  ...section(
    '4.1',
    must(
      'frames of unknown types',
      hello,
      before(stream => [frame(0x5c, 0xff, 0, 'x'), frame(0x5c, 0xff, stream, 'x')]),
    ),
    must('undefined flags', hello, (connection, stream) => {
      connection.headers(stream, [ok], begun | 0xd2)
      connection.send(data(stream, 'hello', end | 0xf6))
    }),
    must('the reserved bit of a stream number', hello, (connection, stream) => {
      const number = (0x8000_0000 | stream) >>> 0
      connection.send(frame(frameType.headers, begun, number, block(ok)), data(number, 'hello', end))
    }),
  ),
  ...section(
    '4.2',
    must(
      'DATA of 16,384 bytes',
      reaches(200, 'x'.repeat(16_384)),
      after(stream => [data(stream, 'x'.repeat(16_384), end)]),
    ),
    must('DATA over the limit', brokenConnection('frameSize'), (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.send(data(stream, 'x'.repeat(connection.maxFrame + 1), end))
    }),
    must('HEADERS over the limit', brokenConnection('frameSize'), (connection, stream) =>
      connection.send(frame(frameType.headers, begun, stream, Buffer.alloc(connection.maxFrame + 1))),
    ),
    must('SETTINGS over the limit', brokenConnection('frameSize'), connection =>
      connection.send(
        frame(frameType.settings, 0, 0, Buffer.alloc(6 * Math.ceil((connection.maxFrame + 1) / 6))),
      ),
    ),
    posting(
      60_000,
      must(
        'no frame of a body is over the limit',
        looks('frames of up to 16,384 bytes', async ({ connection, stream, reply }) => {
          await connection.until(() => connection.on(stream).body.length === 60_000)
          respond(connection, stream)
          await reply
          const longest = Math.max(...connection.frames.map(({ payload }) => payload.length))
          return longest <= 16_384 ? null : `${longest} bytes`
        }),
        () => {},
      ),
    ),
  ),
  ...section(
    '4.3',
    must('a header block that is none', invalid, (connection, stream) =>
      connection.headers(stream, [ok, indexed(200)], begun),
    ),
    must('a trailer section that is none', invalid, (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.headers(stream, [indexed(200)])
    }),
    must('a header block in frames of one byte each', hello, (connection, stream) => {
      const bytes = block(ok, ['x-a', '1'])
      connection.send(frame(frameType.headers, 0, stream, bytes.subarray(0, 1)))
      for (let at = 1; at < bytes.length; at++)
        connection.send(
          frame(
            frameType.continuation,
            at === bytes.length - 1 ? flag.endHeaders : 0,
            stream,
            bytes.subarray(at, at + 1),
          ),
        )
      connection.send(data(stream, 'hello', end))
    }),
    must('an entry that an interim response has added', hello, (connection, stream) => {
      connection.headers(stream, [[':status', '103'], added('x-a', '1')], begun)
      connection.headers(stream, [ok, indexed(62)], begun)
      connection.send(data(stream, 'hello', end))
    }),
    must('PING amid a header block', brokenConnection('protocol'), (connection, stream) => {
      connection.headers(stream, [ok], 0)
      connection.send(frame(frameType.ping, 0, 0, '12345678'))
    }),
    must('DATA amid a header block', brokenConnection('protocol'), (connection, stream) => {
      connection.headers(stream, [ok], 0)
      connection.send(data(stream, 'x'))
    }),
    must(
      'CONTINUATION of nothing',
      brokenConnection('protocol'),
      after(stream => [frame(frameType.continuation, flag.endHeaders, stream)]),
    ),
  ),
  ...section(
    '5.1',
    must('idle: HEADERS', brokenConnection('protocol'), (connection, stream) =>
      connection.headers(stream + 20, [ok]),
    ),
    must('idle: DATA', brokenConnection('protocol'), (connection, stream) =>
      connection.send(data(stream + 20, 'x')),
    ),
    must('idle: WINDOW_UPDATE', brokenConnection('protocol'), (connection, stream) =>
      connection.send(windowUpdate(stream + 20, 1)),
    ),
    must('idle: RST_STREAM', brokenConnection('protocol'), (connection, stream) =>
      connection.send(rstStream(stream + 20)),
    ),
    must(
      'PRIORITY on an idle stream',
      hello,
      before(stream => [frame(frameType.priority, 0, stream + 20, '\0\0\0\0\x10')]),
    ),
    must('WINDOW_UPDATE, PRIORITY and RST_STREAM after the end', hello, (connection, stream) => {
      respond(connection, stream)
      connection.send(
        windowUpdate(stream, 1),
        frame(frameType.priority, 0, stream, '\0\0\0\0\x10'),
        rstStream(stream, 0),
      )
    }),
  ),
  ...section(
    '5.1.1',
    must('HEADERS on a stream of the origin’s own', brokenConnection('protocol'), connection =>
      connection.headers(2, [ok]),
    ),
    must('DATA on a stream of the origin’s own', brokenConnection('protocol'), connection =>
      connection.send(data(2, 'x')),
    ),
    must('HEADERS on stream 0', brokenConnection('protocol'), connection => connection.headers(0, [ok])),
  ),
  ...section(
    '5.1.2',
    setting(
      [[id.maxConcurrentStreams, 1]],
      must(
        'no more streams than SETTINGS_MAX_CONCURRENT_STREAMS at a time',
        looks('one stream at a time', async ({ connection, stream, reply, ask }) => {
          const others = [ask(), ask()]
          await connection.settled()
          const opened = () => connection.frames.filter(({ type }) => type === frameType.headers).length
          if (opened() > 1) return `${opened()} streams`
          respond(connection, stream)
          await reply
          // The others may come here, or on connections of their own.
          let served = stream
          for (let next = 0; next < 2; next++) {
            const number = await Promise.race([second(connection, served), Promise.any(others).then(() => 0)])
            if (number === 0) break
            respond(connection, (served = number))
          }
          return null
        }),
        () => {},
      ),
    ),
  ),
  ...section(
    '5.4.2',
    must(
      'RST_STREAM in place of a response',
      looks('a failure for the client, and no RST_STREAM back', async ({ connection, stream, reply }) => {
        const { status } = await reply
        await connection.settled()
        if (status < 500) return `the client got ${status}`
        return connection.on(stream).code === null ? null : 'RST_STREAM'
      }),
      (connection, stream) => connection.send(rstStream(stream, 2)),
    ),
    must(
      'RST_STREAM amid a response',
      looks('a failure for the client', async ({ reply }) => {
        const { isWhole, status } = await reply
        return isWhole && status < 500 ? 'a whole response' : null
      }),
      after(stream => [data(stream, 'x'), rstStream(stream, 2)]),
    ),
  ),
  ...section(
    '6.1',
    must(
      'DATA on stream 0',
      brokenConnection('protocol'),
      after(() => [data(0, 'x')]),
    ),
    must(
      'padding is no part of the body',
      hello,
      after(stream => [data(stream, Buffer.from('\x03hello\0\0\0'), flag.padded | end)]),
    ),
    must(
      'padding as long as the frame',
      brokenConnection('protocol'),
      after(stream => [data(stream, '\x06hello', flag.padded | end)]),
    ),
    must(
      'the length of the padding is missing',
      brokenConnection('frameSize', 'protocol'),
      after(stream => [data(stream, '', flag.padded)]),
    ),
    must(
      'the end in a frame without bytes',
      hello,
      after(stream => [data(stream, 'hello'), data(stream, '', end)]),
    ),
  ),
  ...section(
    '6.2',
    must('padding and a priority', hello, (connection, stream) => {
      const payload = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), block(ok), Buffer.alloc(3)])
      connection.send(
        frame(frameType.headers, begun | flag.padded | flag.priority, stream, payload),
        data(stream, 'hello', end),
      )
    }),
    must('padding longer than the frame', brokenConnection('protocol'), (connection, stream) =>
      connection.send(
        frame(frameType.headers, begun | flag.padded, stream, Buffer.concat([Buffer.from([200]), block(ok)])),
      ),
    ),
  ),
  ...section(
    '6.3',
    must('PRIORITY on stream 0', brokenConnection('protocol'), connection =>
      connection.send(frame(frameType.priority, 0, 0, '\0\0\0\0\x10')),
    ),
    must('4 bytes', brokenStream('frameSize'), (connection, stream) =>
      connection.send(frame(frameType.priority, 0, stream, '\0\0\0\0')),
    ),
  ),
  ...section(
    '6.4',
    must('RST_STREAM on stream 0', brokenConnection('protocol'), connection => connection.send(rstStream(0))),
    must('3 bytes', brokenConnection('frameSize'), (connection, stream) =>
      connection.send(frame(frameType.rstStream, 0, stream, '\0\0\0')),
    ),
  ),
  ...section(
    '6.5',
    must('an acknowledgement with bytes', brokenConnection('frameSize'), connection =>
      connection.send(frame(frameType.settings, flag.ack, 0, '\0\x04\0\0\xff\xff')),
    ),
    must('SETTINGS on a stream', brokenConnection('protocol'), (connection, stream) =>
      connection.send(frame(frameType.settings, 0, stream)),
    ),
    must('5 bytes', brokenConnection('frameSize'), connection =>
      connection.send(frame(frameType.settings, 0, 0, '\0\x04\0\0\xff')),
    ),
  ),
  ...section(
    '6.5.2',
    must('SETTINGS_ENABLE_PUSH of 1', brokenConnection('protocol'), connection =>
      connection.send(settings([id.enablePush, 1])),
    ),
    must('SETTINGS_ENABLE_PUSH of 2', brokenConnection('protocol'), connection =>
      connection.send(settings([id.enablePush, 2])),
    ),
    must(
      'SETTINGS_ENABLE_PUSH of 0',
      hello,
      before(() => [settings([id.enablePush, 0])]),
    ),
    must('SETTINGS_INITIAL_WINDOW_SIZE of 2^31', brokenConnection('flowControl'), connection =>
      connection.send(settings([id.initialWindowSize, 2 ** 31])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE below 16,384', brokenConnection('protocol'), connection =>
      connection.send(settings([id.maxFrameSize, 16_383])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE of 2^24', brokenConnection('protocol'), connection =>
      connection.send(settings([id.maxFrameSize, 2 ** 24])),
    ),
    must(
      'an unknown setting',
      hello,
      before(() => [settings([0x5c5c, 1])]),
    ),
    must(
      'the client’s SETTINGS are valid',
      looks('valid SETTINGS', async ({ connection, reply }) => {
        await reply
        const push = connection.settingOf(id.enablePush, 0)
        const size = connection.maxFrame
        const window = connection.settingOf(id.initialWindowSize, 65_535)
        return push <= 1 && size >= 16_384 && size < 2 ** 24 && window <= maxWindow
          ? null
          : `${push}, ${size}, ${window}`
      }),
      respond,
    ),
  ),
  ...section(
    '6.5.3',
    must(
      'each SETTINGS is acknowledged',
      looks('3 acknowledgements', async ({ connection, reply }) => {
        await reply
        await connection.settled()
        const acks = connection.frames.filter(
          ({ type, flags }) => type === frameType.settings && flags === flag.ack,
        )
        return acks.length === 3 ? null : `${acks.length}`
      }),
      before(() => [settings(), settings([id.maxFrameSize, 20_000])]),
    ),
  ),
  ...section(
    '6.6',
    must('PUSH_PROMISE', brokenConnection('protocol'), (connection, stream) =>
      connection.send(
        frame(
          frameType.pushPromise,
          flag.endHeaders,
          stream,
          Buffer.concat([
            uint32(2),
            block([':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', 'site.test']),
          ]),
        ),
      ),
    ),
  ),
  ...section(
    '6.7',
    must(
      'PING is acknowledged with its bytes',
      looks('an acknowledgement', async ({ connection }) => {
        return (await connection.settled()) ? null : endOf(connection, 0)
      }),
      respond,
    ),
    must('PING on a stream', brokenConnection('protocol'), (connection, stream) =>
      connection.send(frame(frameType.ping, 0, stream, '12345678')),
    ),
    must('7 bytes', brokenConnection('frameSize'), connection =>
      connection.send(frame(frameType.ping, 0, 0, '1234567')),
    ),
  ),
  ...section(
    '6.8',
    must('GOAWAY on a stream', brokenConnection('protocol'), (connection, stream) =>
      connection.send(frame(frameType.goAway, 0, stream, '\0\0\0\0\0\0\0\0')),
    ),
    must('7 bytes', brokenConnection('frameSize'), connection =>
      connection.send(frame(frameType.goAway, 0, 0, '\0\0\0\0\0\0\0')),
    ),
    must(
      'a request that GOAWAY names is completed',
      hello,
      before(stream => [frame(frameType.goAway, 0, 0, Buffer.concat([uint32(stream), uint32(0)]))]),
    ),
    must(
      'no further stream is opened after GOAWAY',
      looks('no second request on the connection', async ({ connection, stream, reply, ask }) => {
        await reply
        void ask()
        await connection.settled()
        return connection.frames.some(
          ({ type, stream: other }) => type === frameType.headers && other > stream,
        )
          ? 'a second request'
          : null
      }),
      before(stream => [frame(frameType.goAway, 0, 0, Buffer.concat([uint32(stream), uint32(0)]))]),
    ),
  ),
  ...section(
    '6.9',
    must('0 on a stream', malformed, (connection, stream) => connection.send(windowUpdate(stream, 0))),
    must('0 on the connection', brokenConnection('protocol'), connection =>
      connection.send(windowUpdate(0, 0)),
    ),
    must('3 bytes', brokenConnection('frameSize'), connection =>
      connection.send(frame(frameType.windowUpdate, 0, 0, '\0\0\x01')),
    ),
  ),
  ...section(
    '6.9.1',
    setting(
      [[id.initialWindowSize, 10]],
      must(
        'the window of a stream is kept to',
        upload(
          100,
          [10, stream => [windowUpdate(stream, 1)]],
          [11, stream => [windowUpdate(stream, 89)]],
          [100],
        ),
        respond,
      ),
    ),
    setting(
      [[id.initialWindowSize, 1_000_000]],
      must(
        'the window of the connection is kept to',
        upload(100_000, [65_535, () => [windowUpdate(0, 34_465)]], [100_000]),
        respond,
      ),
    ),
    must('the window of the connection becomes 2^31', brokenConnection('flowControl'), connection =>
      connection.send(windowUpdate(0, maxWindow)),
    ),
    posting(
      1,
      must('the window of a stream becomes 2^31', brokenStream('flowControl'), (connection, stream) =>
        connection.send(windowUpdate(stream, maxWindow)),
      ),
    ),
    readingLate(
      must('more than the window of the stream', brokenConnection('flowControl'), (connection, stream) => {
        connection.headers(stream, [ok], begun)
        connection.send(...Array.from({ length: 2_000 }, () => data(stream, 'x'.repeat(16_000))))
      }),
    ),
  ),
  ...section(
    '6.9.2',
    setting(
      [[id.initialWindowSize, 10]],
      must(
        'a window may become negative',
        upload(
          100,
          [10, stream => [settings([id.initialWindowSize, 5]), windowUpdate(stream, 5)]],
          [10, stream => [windowUpdate(stream, 3)]],
          [13, stream => [windowUpdate(stream, 87)]],
          [100],
        ),
        respond,
      ),
    ),
    setting(
      [[id.initialWindowSize, 0]],
      must(
        'a larger first window counts for open streams',
        upload(
          100,
          [0, () => [settings([id.initialWindowSize, 7])]],
          [7, () => [settings([id.initialWindowSize, 1_000])]],
          [100],
        ),
        respond,
      ),
    ),
    posting(
      1,
      must(
        'a first window that makes that of an open stream 2^31',
        brokenConnection('flowControl'),
        (connection, stream) =>
          connection.send(windowUpdate(stream, maxWindow - 65_535), settings([id.initialWindowSize, 70_000])),
      ),
    ),
  ),
  ...section(
    '8.1',
    must('an interim response', hello, (connection, stream) => {
      connection.headers(
        stream,
        [
          [':status', '103'],
          ['link', '</a.css>'],
        ],
        begun,
      )
      respond(connection, stream)
    }),
    must('an interim response that ends the stream', malformed, (connection, stream) =>
      connection.headers(stream, [[':status', '103']]),
    ),
    must('a second header section that ends nothing', malformed, (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.headers(stream, [ok], begun)
    }),
    must('DATA before any header section', malformed, (connection, stream) =>
      connection.send(data(stream, 'hello', end)),
    ),
    must('a trailer section', hello, (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.send(data(stream, 'hello'))
      connection.headers(stream, [['x-late', '1']])
    }),
    must('a pseudo-header field in the trailer section', malformed, (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.send(data(stream, 'hello'))
      connection.headers(stream, [ok])
    }),
    heading(must('a body in the response to HEAD', brokenLater('protocol'), withFields(ok))),
    heading(
      must('a length in the response to HEAD', reaches(200, ''), (connection, stream) =>
        connection.headers(stream, [ok, ['content-length', '500']]),
      ),
    ),
    must('a body of 204', brokenLater('protocol'), withFields([':status', '204'])),
    must('a body of 304', brokenLater('protocol'), withFields([':status', '304'])),
    posting(100, must('a whole response before the end of the request', hello, respond)),
  ),
  ...section(
    '8.1.1',
    must('content-length above the body', malformed, withFields(ok, ['content-length', '6'])),
    must('content-length below the body', malformed, withFields(ok, ['content-length', '4'])),
    must('content-length with no body', malformed, (connection, stream) =>
      connection.headers(stream, [ok, ['content-length', '6']]),
    ),
    must(
      'two different values of content-length',
      malformed,
      withFields(ok, ['content-length', '5'], ['content-length', '6']),
    ),
    must('content-length that is no number', malformed, withFields(ok, ['content-length', '5x'])),
    must('content-length that fits', hello, withFields(ok, ['content-length', '5'])),
  ),
  ...section(
    '8.2',
    must('a name in upper case', malformed, withFields(ok, ['X-Upper', '1'])),
    must('a name in upper case in the trailer section', malformed, (connection, stream) => {
      connection.headers(stream, [ok], begun)
      connection.send(data(stream, 'hello'))
      connection.headers(stream, [['X-Late', '1']])
    }),
  ),
  ...section(
    '8.2.1',
    must('a space in a name', malformed, withFields(ok, ['x a', '1'])),
    must('a colon in a name', malformed, withFields(ok, ['x:a', '1'])),
    must('NUL in a value', malformed, withFields(ok, ['x-a', 'a\0b'])),
    must('a line break in a value', malformed, withFields(ok, ['x-a', 'a\r\nset-cookie: b=1'])),
    must('LF in a value', malformed, withFields(ok, ['x-a', 'a\nb'])),
    must('a space before a value', malformed, withFields(ok, ['x-a', ' a'])),
    must('a space after a value', malformed, withFields(ok, ['x-a', 'a '])),
    should('bytes above 127 in a value', hello, withFields(ok, ['x-a', 'caf\xe9'])),
  ),
  ...section(
    '8.2.2',
    ...hop.map(name =>
      must(name, malformed, withFields(ok, [name, name === 'transfer-encoding' ? 'chunked' : 'close'])),
    ),
    must(
      'no field of a connection in a request',
      requestHas('none of them', fields => fields.find(([name]) => hop.includes(name))?.[0] ?? null),
      respond,
    ),
  ),
  ...section(
    '8.3.1',
    must(
      'the pseudo-header fields of a request come first, each once',
      requestHas('four of them', fields => {
        const pseudo = fields
          .slice(0, 4)
          .map(([name]) => name)
          .toSorted()
          .join(' ')
        const behind = fields.slice(4).some(([name]) => name.startsWith(':'))
        return pseudo === ':authority :method :path :scheme' && !behind
          ? null
          : fields.map(([name]) => name).join(' ')
      }),
      respond,
    ),
    must(
      'names are in lower case in a request',
      requestHas('lower case', fields => fields.find(([name]) => name !== name.toLowerCase())?.[0] ?? null),
      respond,
    ),
  ),
  ...section(
    '8.3.2',
    must('no :status', malformed, withFields(['x-a', '1'])),
    must(':status twice', malformed, withFields(ok, ok)),
    must(':status after another field', malformed, withFields(['x-a', '1'], ok)),
    must('a pseudo-header field of a request', malformed, withFields(ok, [':path', '/'])),
    must('an unknown pseudo-header field', malformed, withFields(ok, [':unknown', '1'])),
    must(':status of two digits', malformed, withFields([':status', '20'])),
    must(':status of four digits', malformed, withFields([':status', '2000'])),
    must(':status that is no number', malformed, withFields([':status', 'ok'])),
    must(':status of 101', malformed, withFields([':status', '101'])),
  ),
  ...section(
    'RFC 7541 2.3.3',
    must('an index beyond both tables', invalid, withFields(ok, indexed(62))),
    must('index 0', invalid, withFields(ok, indexed(0))),
  ),
  ...section(
    'RFC 7541 4.2',
    must('a size above SETTINGS_HEADER_TABLE_SIZE', invalid, (connection, stream) =>
      connection.headers(stream, [tableSize(connection.settingOf(id.headerTableSize, 4_096) + 1), ok], begun),
    ),
    must('a new size after a field', invalid, withFields(ok, tableSize(0))),
    must('a new size at the beginning', hello, withFields(tableSize(0), ok)),
    must(
      'a table of no bytes is announced, and not used',
      looks('a block that begins with its size', async ({ connection, stream, reply, ask }) => {
        await reply
        connection.send(settings([id.headerTableSize, 0]))
        await connection.settled()
        const other = ask()
        const next = await second(connection, stream)
        if (next === 0) return 'no second request on the connection'
        respond(connection, next)
        await other
        const sent = connection.frames.find(
          ({ type, stream: of }) => type === frameType.headers && of === next,
        )!
        return sent.payload[0] === 0x20 ? null : `it begins with ${sent.payload[0]?.toString(16)}`
      }),
      respond,
    ),
  ),
  ...section(
    'RFC 7541 5',
    must(
      'an integer of ten bytes',
      invalid,
      withFields(ok, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])),
    ),
    must('padding of 8 bits', invalid, withFields(ok, literal('x-a', huffman(0xff, 0xff)))),
    must('EOS', invalid, withFields(ok, literal('x-a', huffman(0xff, 0xff, 0xff, 0xff)))),
  ),
]
