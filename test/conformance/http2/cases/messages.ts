// RFC 9113 section 8: requests and responses.

import { errorCode, flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { data, frame } from '../../../help/http2.ts'
import { type Connection, statusOf, firstValue } from '../connection.ts'
import { check, connectionError, endOf, malformed, refused, served, streamError } from '../expect.ts'
import { type Field, block } from '../hpack.ts'
import { must, section, should } from '../write.ts'

const end = flag.endStream

/** A request whose fields replace or follow those of a usual one. */
const asking =
  (...more: readonly Field[]) =>
  (connection: Connection) =>
    connection.get(1, '/', ...more)

/** A request with these fields alone, in this order. */
const withFields = (make: (connection: Connection) => readonly Field[]) => (connection: Connection) =>
  connection.headers(1, make(connection))

const without = (name: string) =>
  withFields(connection => connection.fields().filter(field => Buffer.isBuffer(field) || field[0] !== name))
const replacing = (name: string, value: string, method = 'GET') =>
  withFields(connection =>
    connection
      .fields(method)
      .map(field => (Buffer.isBuffer(field) || field[0] !== name ? field : [name, value])),
  )

/** How a stream beyond the limit is refused (section 5.1.2). */
const refusing: readonly number[] = [errorCode.refusedStream, errorCode.protocol]

/** What the origin has received, as it tells. */
interface Seen {
  readonly method: string
  readonly url: string
  /** Flat. */
  readonly fields: readonly string[]
  readonly trailers: readonly string[]
}

/** Looks at what came to the origin, as text of `name: value` lines in lower case. */
const origin = (words: string, fits: (lines: readonly string[], seen: Seen) => boolean, stream = 1) =>
  check(words, async connection => {
    const response = await connection.response(stream)
    if (statusOf(response) !== 200) return endOf(connection, stream)
    const seen = JSON.parse(response.body.toString()) as Seen
    const lines: string[] = []
    for (let i = 0; i < seen.fields.length; i += 2)
      lines.push(`${seen.fields[i]!.toLowerCase()}: ${seen.fields[i + 1]}`)
    return fits(lines, seen) ? null : `the origin got ${lines.join(', ')}`
  })

const echoed = (body: string) =>
  check(`the body ${JSON.stringify(body)}`, async connection => {
    const response = await connection.response()
    return response.body.toString() === body ? null : endOf(connection, 1)
  })

/** A request with a body of which the length is declared. */
const declaring =
  (length: string, ...bodies: readonly string[]) =>
  (connection: Connection) => {
    connection.post(1, '/echo', ['content-length', length])
    connection.send(...bodies.map((body, i) => data(1, body, i === bodies.length - 1 ? end : 0)))
  }

export const messageCases = [
  ...section(
    '8.1',
    must('a body in several frames', echoed('one two'), connection => {
      connection.post(1)
      connection.send(data(1, 'one '), data(1, ''), data(1, 'two', end))
    }),
    must('a body and a trailer section', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, 'body'))
      connection.headers(1, [['x-late', '1']])
    }),
    must('a trailer section without a body', echoed(''), connection => {
      connection.post(1)
      connection.headers(1, [['x-late', '1']])
    }),
    must('a second header section that ends nothing', malformed(), connection => {
      connection.post(1)
      connection.headers(1, [['x-late', '1']], flag.endHeaders)
      connection.send(data(1, 'x', end))
    }),
    must('DATA after the trailer section', streamError(1, 'streamClosed', 'protocol'), connection => {
      connection.post(1, '/hold')
      connection.headers(1, [['x-late', '1']])
      connection.send(data(1, 'x', end))
    }),
    must(
      'an interim response does not end the stream',
      check('200', async connection => {
        const response = await connection.response()
        if (statusOf(response) !== 200 || response.body.toString() !== 'hello') return endOf(connection, 1)
        const first = connection.frames.find(
          ({ type, stream }) => type === frameType.headers && stream === 1,
        )!
        return response.sections.length === 1 || (first.flags & end) === 0 ? null : 'the 103 ended the stream'
      }),
      connection => connection.get(1, '/interim'),
    ),
    must(
      'the response to HEAD has no body',
      check('200 without DATA', async connection => {
        const response = await connection.response()
        if (statusOf(response) !== 200) return endOf(connection, 1)
        return response.body.length === 0 && response.isOver ? null : 'a body'
      }),
      connection => connection.headers(1, connection.fields('HEAD')),
    ),
    must('204 has no body', served(1, 204), connection => connection.get(1, '/status/204')),
    must('304 has no body', served(1, 304), connection => connection.get(1, '/status/304')),
    must(
      'the trailer section of a response has no pseudo-header fields',
      check('fields alone', async connection => {
        const { sections, body } = await connection.response()
        if (body.toString() !== 'hello') return endOf(connection, 1)
        return sections.slice(1).every(fields => fields.every(([name]) => !name.startsWith(':')))
          ? null
          : 'others'
      }),
      connection => connection.get(1, '/trailers', ['te', 'trailers']),
    ),
    must(
      'a response that the origin cuts short is not made whole',
      check('a reset', async connection => {
        const response = await connection.response()
        return response.isOver && statusOf(response) === 200 ? 'a whole response' : null
      }),
      connection => connection.get(1, '/cut'),
    ),
  ),
  ...section(
    '8.1.1',
    must('content-length with no body', malformed(), asking(['content-length', '1'])),
    must('content-length above the body', malformed(), declaring('5', 'body')),
    must('content-length below the body', malformed(), declaring('3', 'body')),
    must('content-length above a body of several frames', malformed(), declaring('9', 'body', 'body')),
    must('content-length below a body of several frames', malformed(), declaring('7', 'body', 'body')),
    must('content-length of 0 with a body', malformed(), declaring('0', 'body')),
    must('content-length above a body that a trailer section ends', malformed(), connection => {
      connection.post(1, '/echo', ['content-length', '5'])
      connection.send(data(1, 'body'))
      connection.headers(1, [['x-late', '1']])
    }),
    must('content-length that fits', echoed('body'), declaring('4', 'bo', 'dy')),
    must('content-length counts no padding', echoed('body'), connection => {
      connection.post(1, '/echo', ['content-length', '4'])
      connection.send(data(1, Buffer.from([3, ...Buffer.from('body'), 0, 0, 0]), flag.padded | end))
    }),
    must('content-length that is no number', malformed(), declaring('4x', 'body')),
    must('content-length with a sign', malformed(), declaring('+4', 'body')),
    must('two different values of content-length', malformed(), connection => {
      connection.post(1, '/echo', ['content-length', '4'], ['content-length', '5'])
      connection.send(data(1, 'body', end))
    }),
    must('a malformed request does not get to the origin', served(3), async connection => {
      connection.get(1, '/', ['X-Upper', '1'])
      await connection.response()
      connection.get(3)
    }),
  ),
  ...section(
    '8.2',
    must('a name in upper case', malformed(), asking(['X-Upper', '1'])),
    must('a name in upper case in the trailer section', malformed(), connection => {
      connection.post(1)
      connection.send(data(1, 'body'))
      connection.headers(1, [['X-Late', '1']])
    }),
  ),
  ...section(
    '8.2.1',
    must('a name without characters', malformed(), asking(['', '1'])),
    must('a space in a name', malformed(), asking(['x a', '1'])),
    must('a space after a name', malformed(), asking(['x-a ', '1'])),
    must('NUL in a name', malformed(), asking(['x\0a', '1'])),
    must('a line break in a name', malformed(), asking(['x\r\na', '1'])),
    must('DEL in a name', malformed(), asking(['x\x7fa', '1'])),
    must('a byte above 127 in a name', malformed(), asking(['x\xe9', '1'])),
    must('a colon in a name', malformed(), asking(['x:a', '1'])),
    must('NUL in a value', malformed(), asking(['x-a', 'a\0b'])),
    must('LF in a value', malformed(), asking(['x-a', 'a\nb'])),
    must('CR in a value', malformed(), asking(['x-a', 'a\rb'])),
    must('a line break and a field in a value', malformed(), asking(['x-a', 'a\r\nx-b: b'])),
    must('a space before a value', malformed(), asking(['x-a', ' a'])),
    must('a space after a value', malformed(), asking(['x-a', 'a '])),
    must('a tab before a value', malformed(), asking(['x-a', '\ta'])),
    must('a tab after a value', malformed(), asking(['x-a', 'a\t'])),
    must('a line break in a value of the trailer section', malformed(), connection => {
      connection.post(1)
      connection.send(data(1, 'body'))
      connection.headers(1, [['x-late', 'a\r\nb']])
    }),
    must('a line break in :path', malformed(), replacing(':path', '/ HTTP/1.1\r\nx-b: b\r\n\r\n')),
    must('a space in :method', malformed(), replacing(':method', 'GET /other')),
    must('a line break in :authority', malformed(), replacing(':authority', 'site.test\r\nx-b: b')),
    should('bytes above 127 in a value', served(), asking(['x-a', 'caf\xe9'])),
    should('a value without characters', served(), asking(['x-a', ''])),
    should('spaces and tabs amid a value', served(), asking(['x-a', 'a \t b'])),
  ),
  ...section(
    '8.2.2',
    must('connection', malformed(), asking(['connection', 'close'])),
    must('keep-alive', malformed(), asking(['keep-alive', 'timeout=5'])),
    must('proxy-connection', malformed(), asking(['proxy-connection', 'keep-alive'])),
    must('transfer-encoding', malformed(), connection => {
      connection.post(1, '/echo', ['transfer-encoding', 'chunked'])
      connection.send(data(1, '0\r\n\r\n', end))
    }),
    must('upgrade', malformed(), asking(['upgrade', 'websocket'])),
    must('te: trailers', served(), asking(['te', 'trailers'])),
    must('te: gzip', malformed(), asking(['te', 'gzip'])),
    must('te: trailers, deflate', malformed(), asking(['te', 'trailers, deflate'])),
    must(
      'no field of a connection in a response',
      check('none of them', async connection => {
        const { sections } = await connection.response()
        const fields = sections.at(-1)
        if (fields === undefined) return endOf(connection, 1)
        const names = [
          'connection',
          'keep-alive',
          'proxy-connection',
          'transfer-encoding',
          'upgrade',
          'x-hop',
        ]
        const strays = names.filter(name => firstValue(fields, name) !== null)
        return strays.length === 0 ? null : strays.join(', ')
      }),
      connection => connection.get(1, '/fields'),
    ),
    must(
      'names are in lower case in a response',
      check('lower case', async connection => {
        const { sections } = await connection.response()
        const names = sections.flatMap(fields => fields.map(([name]) => name))
        if (names.length === 0) return endOf(connection, 1)
        return names.find(name => name !== name.toLowerCase()) ?? null
      }),
      connection => connection.get(1, '/fields'),
    ),
  ),
  ...section(
    '8.2.3',
    must(
      'parts of cookie become one field for HTTP/1.1',
      origin(
        'cookie: a=1; b=2; c=3',
        lines => lines.filter(line => line.startsWith('cookie:')).join() === 'cookie: a=1; b=2; c=3',
      ),
      connection =>
        connection.get(1, '/seen', ['cookie', 'a=1'], ['cookie', 'b=2'], ['x-a', '1'], ['cookie', 'c=3']),
    ),
  ),
  ...section(
    '8.3',
    must(
      'an unknown pseudo-header field',
      malformed(),
      withFields(connection => [...connection.fields(), [':unknown', '1']]),
    ),
    must(
      'one of a response',
      malformed(),
      withFields(connection => [...connection.fields(), [':status', '200']]),
    ),
    must(
      'one after another field',
      malformed(),
      withFields(connection => [['x-a', '1'], ...connection.fields()]),
    ),
    must(
      ':authority after another field',
      malformed(),
      withFields(connection => [
        ...connection.fields().slice(0, 3),
        ['x-a', '1'],
        [':authority', 'site.test'],
      ]),
    ),
    must('one in the trailer section', malformed(), connection => {
      connection.post(1)
      connection.send(data(1, 'body'))
      connection.headers(1, [[':path', '/']])
    }),
    must(
      'one in upper case',
      malformed(),
      withFields(connection => [...connection.fields().slice(1), [':METHOD', 'GET']]),
    ),
  ),
  ...section(
    '8.3.1',
    must('no :method', malformed(), without(':method')),
    must('no :scheme', malformed(), without(':scheme')),
    must('no :path', malformed(), without(':path')),
    must('an empty :path', malformed(), replacing(':path', '')),
    must('an empty :method', malformed(), replacing(':method', '')),
    must(
      ':method twice',
      malformed(),
      withFields(connection => [[':method', 'GET'], ...connection.fields()]),
    ),
    must(
      ':scheme twice',
      malformed(),
      withFields(connection => [[':scheme', connection.scheme], ...connection.fields()]),
    ),
    must(
      ':path twice',
      malformed(),
      withFields(connection => [[':path', '/'], ...connection.fields()]),
    ),
    must(
      ':authority twice',
      malformed(),
      withFields(connection => [...connection.fields(), [':authority', 'site.test']]),
    ),
    must(
      ':authority twice, with different values',
      malformed(),
      withFields(connection => [...connection.fields(), [':authority', 'other.test']]),
    ),
    should(
      ':authority with a name and a password',
      malformed(),
      replacing(':authority', 'user:secret@site.test'),
    ),
    must('neither :authority nor host', refused(), without(':authority')),
    should('host that differs from :authority', malformed(), asking(['host', 'other.test'])),
    must('host that is the same as :authority', served(), asking(['host', 'site.test'])),
    must('host in place of :authority', served(), connection =>
      connection.headers(1, [...connection.fields().slice(0, 3), ['host', 'site.test']]),
    ),
    must(
      ':authority becomes host for HTTP/1.1',
      origin('host: site.test', lines => lines.filter(line => line.startsWith('host:')).length === 1),
      connection => connection.get(1, '/seen'),
    ),
    must(':path without a slash', malformed(), replacing(':path', 'seen')),
    must(':path of a whole URL', malformed(), replacing(':path', 'http://other.test/')),
    should(':path of * for GET', malformed(), replacing(':path', '*')),
    must(':path of * for OPTIONS', served(), replacing(':path', '*', 'OPTIONS')),
    must(
      ':path comes to the origin as it is',
      origin('/seen?a=%2F&b=1', (_, { url }) => url === '/seen?a=%2F&b=1'),
      connection => connection.get(1, '/seen?a=%2F&b=1'),
    ),
    must(
      'other methods come to the origin',
      origin('REPORT', (_, { method }) => method === 'REPORT'),
      connection => connection.headers(1, connection.fields('REPORT', '/seen')),
    ),
  ),
  ...section(
    '8.3.2',
    must(
      ':status comes first and once',
      check('one :status', async connection => {
        const { sections } = await connection.response()
        const fields = sections[0]
        if (fields === undefined) return endOf(connection, 1)
        const pseudo = fields.filter(([name]) => name.startsWith(':'))
        return pseudo.length === 1 && fields[0]![0] === ':status' && /^\d{3}$/.test(fields[0]![1])
          ? null
          : 'others'
      }),
      connection => connection.get(1),
    ),
  ),
  ...section(
    '8.4',
    must(
      'nothing is pushed to a client that did not ask for it',
      check('no PUSH_PROMISE', async connection => {
        await connection.response()
        return connection.frames.some(({ type }) => type === frameType.pushPromise) ? 'PUSH_PROMISE' : null
      }),
      connection => connection.get(1, '/fields'),
    ),
    must('a client promises nothing', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(
        frame(
          frameType.pushPromise,
          flag.endHeaders,
          1,
          Buffer.concat([Buffer.from([0, 0, 0, 2]), block(...connection.fields())]),
        ),
      )
    }),
  ),
  ...section(
    '8.5',
    must('CONNECT with :scheme', malformed(), connection =>
      connection.headers(
        1,
        [
          [':method', 'CONNECT'],
          [':scheme', connection.scheme],
          [':authority', 'site.test:443'],
        ],
        flag.endHeaders,
      ),
    ),
    must('CONNECT with :path', malformed(), connection =>
      connection.headers(
        1,
        [
          [':method', 'CONNECT'],
          [':path', '/'],
          [':authority', 'site.test:443'],
        ],
        flag.endHeaders,
      ),
    ),
    must('CONNECT without :authority', malformed(), connection =>
      connection.headers(1, [[':method', 'CONNECT']], flag.endHeaders),
    ),
    should('no tunnel is opened', refused(), connection =>
      connection.headers(
        1,
        [
          [':method', 'CONNECT'],
          [':authority', 'site.test:443'],
        ],
        flag.endHeaders,
      ),
    ),
  ),
  ...section(
    '8.7',
    must(
      'a refused stream was not processed',
      check('what the origin has counted', async connection => {
        const count = Math.min(1_000, connection.settingOf(setting.maxConcurrentStreams, 1_000)) + 30
        const mark = `/count/${Math.random()}`
        const numbers = Array.from({ length: count }, (_, i) => 2 * i + 1)
        for (const stream of numbers) connection.get(stream, mark)
        const ends = () => numbers.map(stream => connection.on(stream))
        const isDone = () => ends().every(({ isOver, code }) => isOver || code !== null)
        if (!(await connection.until(isDone))) return endOf(connection, 0)
        const taken = ends().filter(response => statusOf(response) === 200).length
        const refusals = ends().filter(({ code }) => code !== null && refusing.includes(code)).length
        if (taken + refusals !== count) return `${taken} served, ${refusals} refused of ${count}`
        connection.get(2 * count + 1, mark)
        const seen = Number((await connection.response(2 * count + 1)).body.toString())
        return seen === taken + 1 ? null : `the origin got ${seen - 1} of ${taken}`
      }),
      () => {},
    ),
  ),
]
