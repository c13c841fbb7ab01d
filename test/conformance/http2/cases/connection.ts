// RFC 9113 sections 3 and 4: how connections begin, frames, and header blocks.

import { flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { data, frame, ping, preface, settings, uint32 } from '../../../help/http2.ts'
import { type Connection, firstValue, whole } from '../connection.ts'
import { check, connectionError, endOf, ignored, malformed, served, streamError } from '../expect.ts'
import { added, block, huffman, indexed, integer, literal } from '../hpack.ts'
import { fromStart, must, overLimit, plainOnly, section, should, tlsOnly } from '../write.ts'

const unknownType = 0x5c
/** Flags that the type of the frame has no meaning for. */
const undefinedFlags = 0xd2

/** Looks at the first line of a response of HTTP/1.1. */
const http1 = check('status 200 over HTTP/1.1', async connection => {
  await connection.until(() => connection.received.includes('\r\n\r\n'))
  const line = connection.received.split('\r\n', 1)[0]!
  return line.startsWith('HTTP/1.1 200') ? null : line === '' ? endOf(connection, 0) : line
})

const protocolIs = (...wanted: readonly (string | false)[]) =>
  check(`${wanted.join(' or ')} is agreed on`, async ({ protocol }) =>
    wanted.includes(protocol ?? false) ? null : `${protocol}`,
  )

function begin(connection: Connection, ...frames: readonly Buffer[]): void {
  connection.send(preface, ...frames)
}

export const connectionCases = [
  ...section(
    '3.1',
    fromStart(
      plainOnly(
        should('an offer to upgrade to h2c is ignored', http1, connection =>
          connection.sendRaw(
            'GET / HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
          ),
        ),
      ),
    ),
  ),
  ...section('3.2', fromStart(tlsOnly(must('h2 is agreed on if it is offered', protocolIs('h2'), () => {})))),
  ...section(
    '3.3',
    fromStart(
      must('prior knowledge is enough', served(), connection => {
        begin(connection, settings())
        connection.get(1)
      }),
    ),
  ),
  ...section(
    '3.4',
    fromStart(
      must(
        'the first frame of the server is SETTINGS',
        check('SETTINGS first', async connection => {
          await connection.until(() => connection.frames.length > 0)
          const first = connection.frames[0]
          if (first === undefined) return endOf(connection, 0)
          return first.type === frameType.settings && first.flags === 0 ? null : `frame of type ${first.type}`
        }),
        connection => begin(connection, settings()),
      ),
    ),
    fromStart(
      must('the end of the preface is wrong', connectionError('protocol'), connection =>
        connection.sendRaw('PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
      ),
    ),
    fromStart(
      must('HEADERS in place of SETTINGS', connectionError('protocol'), connection => {
        begin(connection)
        connection.get(1)
      }),
    ),
    fromStart(
      must('PING in place of SETTINGS', connectionError('protocol'), connection => begin(connection, ping)),
    ),
    fromStart(
      must('WINDOW_UPDATE in place of SETTINGS', connectionError('protocol'), connection =>
        begin(connection, frame(frameType.windowUpdate, 0, 0, uint32(1))),
      ),
    ),
    fromStart(
      must('a preface of which each byte comes alone', served(), async connection => {
        for (const byte of Buffer.concat([preface, settings()])) {
          connection.sendRaw(Buffer.from([byte]))
          await new Promise(resolve => setImmediate(resolve))
        }
        connection.get(1)
      }),
    ),
    fromStart(
      must('frames follow before the SETTINGS of the server have come', served(3), connection => {
        begin(connection, settings([setting.initialWindowSize, 70_000]), ping)
        connection.get(1)
        connection.get(3)
      }),
    ),
    fromStart(
      must(
        'the first SETTINGS are acknowledged',
        check('an acknowledgement', async connection => {
          const isAcknowledged = () => connection.has(frameType.settings, flag.ack, 0)
          return (await connection.until(isAcknowledged)) ? null : endOf(connection, 0)
        }),
        connection => begin(connection, settings([setting.maxConcurrentStreams, 100])),
      ),
    ),
  ),
  ...section(
    '4.1',
    must('a frame of an unknown type on the connection', ignored(), connection =>
      connection.send(frame(unknownType, 0, 0, 'ignored')),
    ),
    must('a frame of an unknown type on a stream that has no more to send', ignored(), connection => {
      connection.get(1, '/hold')
      connection.send(frame(unknownType, 0xff, 1, 'ignored'))
    }),
    must('a frame of an unknown type amid a request', served(1), connection => {
      connection.post(1)
      connection.send(frame(unknownType, 0xff, 1), data(1, 'body', flag.endStream))
    }),
    must('a frame of an unknown type without bytes', ignored(), connection =>
      connection.send(frame(unknownType, 0, 0)),
    ),
    must(
      'a PING with undefined flags is acknowledged',
      check('an acknowledgement', async connection =>
        (await connection.until(() => connection.has(frameType.ping, flag.ack, 0)))
          ? null
          : endOf(connection, 0),
      ),
      connection => connection.send(frame(frameType.ping, 0xfe, 0, '12345678')),
    ),
    must('HEADERS with undefined flags', served(), connection =>
      connection.headers(1, connection.fields(), whole | undefinedFlags),
    ),
    must('DATA with undefined flags', served(), connection => {
      connection.post(1)
      connection.send(data(1, 'body', flag.endStream | 0xf6))
    }),
    must('SETTINGS and WINDOW_UPDATE with undefined flags', ignored(), connection =>
      connection.send(frame(frameType.settings, 0xfe, 0), frame(frameType.windowUpdate, 0xff, 0, uint32(1))),
    ),
    must('the reserved bit of a stream number', served(1), connection =>
      connection.send(frame(frameType.headers, whole, 0x8000_0001, block(...connection.fields()))),
    ),
    must('the reserved bit of stream 0', ignored(), connection =>
      connection.send(frame(frameType.ping, 0, 0x8000_0000, '12345678')),
    ),
  ),
  ...section(
    '4.2',
    must(
      'DATA of 16,384 bytes',
      check('the same bytes in the response', async connection => {
        const { body } = await connection.response()
        return body.length === 16_384 ? null : endOf(connection, 1)
      }),
      connection => {
        connection.post(1)
        connection.send(data(1, Buffer.alloc(16_384, 'x'), flag.endStream))
      },
    ),
    must('HEADERS of 16,384 bytes', served(), connection => {
      const fields = connection.fields()
      const room = 16_384 - block(...fields).length - block(['x-a', 'x'.repeat(7_000)]).length
      const more = [['x-a', 'x'.repeat(7_000)] as const, ['x-b', 'x'.repeat(room - 8)] as const]
      connection.headers(1, [...fields, ...more])
    }),
    overLimit(
      must('DATA over the limit', streamError(1, 'frameSize'), connection => {
        connection.post(1)
        connection.send(data(1, Buffer.alloc(connection.maxFrame + 1)))
      }),
    ),
    overLimit(
      must('HEADERS over the limit', connectionError('frameSize'), connection =>
        connection.send(frame(frameType.headers, whole, 1, Buffer.alloc(connection.maxFrame + 1))),
      ),
    ),
    overLimit(
      must('CONTINUATION over the limit', connectionError('frameSize'), connection => {
        connection.headers(1, connection.fields(), flag.endStream)
        connection.send(frame(frameType.continuation, 0, 1, Buffer.alloc(connection.maxFrame + 1)))
      }),
    ),
    overLimit(
      must('SETTINGS over the limit', connectionError('frameSize'), connection =>
        connection.send(
          frame(frameType.settings, 0, 0, Buffer.alloc(Math.ceil((connection.maxFrame + 1) / 6) * 6)),
        ),
      ),
    ),
    overLimit(
      must('a frame of an unknown type over the limit', connectionError('frameSize'), connection =>
        connection.send(frame(unknownType, 0, 0, Buffer.alloc(connection.maxFrame + 1))),
      ),
    ),
    must(
      'no frame of a large response is over the limit',
      check('frames of up to 16,384 bytes', async connection => {
        await connection.response()
        const longest = Math.max(...connection.frames.map(({ payload }) => payload.length))
        if (longest > 16_384) return `a frame of ${longest} bytes`
        return connection.on(1).body.length === 60_000 ? null : endOf(connection, 1)
      }),
      connection => connection.get(1, '/bytes/60000'),
    ),
  ),
  ...section(
    '4.3',
    must('a header block that is none', connectionError('compression'), connection =>
      connection.headers(1, [...connection.fields(), indexed(200)]),
    ),
    must('a trailer section that is none', connectionError('compression'), connection => {
      connection.post(1)
      connection.headers(1, [indexed(200)])
    }),
    must('a header block in frames of one byte each', served(), connection => {
      const bytes = block([':method', 'GET'], [':scheme', connection.scheme], indexed(4), [
        ':authority',
        'a.test',
      ])
      connection.send(frame(frameType.headers, flag.endStream, 1, bytes.subarray(0, 1)))
      for (let at = 1; at < bytes.length; at++)
        connection.send(
          frame(
            frameType.continuation,
            at === bytes.length - 1 ? flag.endHeaders : 0,
            1,
            bytes.subarray(at, at + 1),
          ),
        )
    }),
    must('an entry of the table that a request before has added', served(3), connection => {
      connection.get(1, '/', added('x-early', 'one'))
      connection.get(3, '/', indexed(62))
    }),
    must('an entry that a malformed request has added', served(3), connection => {
      connection.get(1, '/', ['X-Upper', 'x'], added('x-early', 'one'))
      connection.get(3, '/', indexed(62))
    }),
    must('an entry that the trailer section of a request has added', served(3), connection => {
      connection.post(1)
      connection.headers(1, [added('x-late', 'one')])
      connection.get(3, '/', indexed(62))
    }),
    must('an entry that HEADERS on a stream have added that its sender has reset', served(3), connection => {
      connection.get(1, '/hold', added('x-early', 'one'))
      connection.send(frame(frameType.rstStream, 0, 1, uint32(8)))
      connection.get(3, '/', indexed(62))
    }),
    must('a block without a field', malformed(), connection => connection.headers(1, [])),
    must('a field that ends amid its value', connectionError('compression'), connection =>
      connection.headers(1, [
        ...connection.fields(),
        Buffer.concat([Buffer.from([0]), integer(3, 7), Buffer.from('x-a'), integer(9, 7), Buffer.from('1')]),
      ]),
    ),
    must('fields in Huffman’s code', served(), connection =>
      connection.headers(1, [
        [':method', 'GET'],
        [':scheme', connection.scheme],
        [':path', '/'],
        literal(1, huffman(0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff)),
      ]),
    ),
    must(
      'responses to several requests are decoded in their order',
      check('three whole responses', async connection => {
        for (const stream of [1, 3, 5]) {
          const { sections } = await connection.response(stream)
          if (sections.length === 0 || firstValue(sections[0]!, ':status') !== '200')
            return endOf(connection, stream)
        }
        return null
      }),
      connection => {
        for (const stream of [1, 3, 5]) connection.get(stream, '/fields')
      },
    ),
  ),
]
