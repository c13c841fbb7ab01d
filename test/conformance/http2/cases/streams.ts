// RFC 9113 section 5: states and numbers of streams, priorities, errors.

import { errorCode, flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { data, frame, ping, rstStream, settings, uint32, windowUpdate } from '../../../help/http2.ts'
import { statusOf } from '../connection.ts'
import { check, closedStream, connectionError, endOf, ignored, served, streamError } from '../expect.ts'
import { added, block, indexed } from '../hpack.ts'
import { having, may, must, section, should } from '../write.ts'

const priority = (stream: number, on = 0) =>
  frame(frameType.priority, 0, stream, Buffer.concat([uint32(on), Buffer.from([15])]))
const trailers = (stream: number) =>
  frame(frameType.headers, flag.endHeaders | flag.endStream, stream, block(['x-late', '1']))

/** Looks at how many streams the server takes at once. */
const streamsAtOnce = check('one stream is refused, the others are served', async connection => {
  const limit = connection.settingOf(setting.maxConcurrentStreams, Number.POSITIVE_INFINITY)
  if (limit > 1_000) return null
  for (let i = 0; i < limit; i++) connection.get(2 * i + 1, '/hold')
  const last = 2 * limit + 1
  connection.get(last)
  const { code } = await connection.response(last)
  if (code !== errorCode.refusedStream && code !== errorCode.protocol) return endOf(connection, last)
  // A stream that ends makes room for another.
  connection.send(rstStream(1))
  await connection.settled()
  connection.get(last + 2)
  return statusOf(await connection.response(last + 2)) === 200 ? null : endOf(connection, last + 2)
})

export const streamCases = [
  ...section(
    '5.1',
    must('idle: DATA', connectionError('protocol'), connection =>
      connection.send(data(1, 'x', flag.endStream)),
    ),
    must('idle: RST_STREAM', connectionError('protocol'), connection => connection.send(rstStream(1))),
    must('idle: WINDOW_UPDATE', connectionError('protocol'), connection =>
      connection.send(windowUpdate(1, 100)),
    ),
    must('idle: CONTINUATION', connectionError('protocol'), connection =>
      connection.send(frame(frameType.continuation, flag.endHeaders, 1, block(...connection.fields()))),
    ),
    must('idle: PRIORITY', served(3), connection => {
      connection.send(priority(1))
      connection.get(3)
    }),
    must('open: WINDOW_UPDATE, PRIORITY and a PING amid a body', served(), connection => {
      connection.post(1)
      connection.send(data(1, 'a'), windowUpdate(1, 10), priority(1), ping, data(1, 'b', flag.endStream))
    }),
    must('half-closed (remote): DATA', streamError(1, 'streamClosed'), connection => {
      connection.get(1, '/hold')
      connection.send(data(1, 'x', flag.endStream))
    }),
    must('half-closed (remote): HEADERS', streamError(1, 'streamClosed'), connection => {
      connection.get(1, '/hold')
      connection.send(trailers(1))
    }),
    must('half-closed (remote): CONTINUATION', connectionError('protocol', 'streamClosed'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.continuation, flag.endHeaders, 1, block(['x-late', '1'])))
    }),
    must('half-closed (remote): WINDOW_UPDATE and PRIORITY', ignored(), connection => {
      connection.get(1, '/hold')
      connection.send(windowUpdate(1, 100), priority(1))
    }),
    must('half-closed (remote): RST_STREAM', served(3), connection => {
      connection.get(1, '/hold')
      connection.send(rstStream(1))
      connection.get(3)
    }),
    may('closed by RST_STREAM: DATA', streamError(1, 'streamClosed'), connection => {
      connection.post(1, '/hold')
      connection.send(rstStream(1), data(1, 'x', flag.endStream))
    }),
    may('closed by RST_STREAM: HEADERS', streamError(1, 'streamClosed', 'protocol'), connection => {
      connection.post(1, '/hold')
      connection.send(rstStream(1), trailers(1))
    }),
    must('closed by RST_STREAM: CONTINUATION', connectionError('protocol', 'streamClosed'), connection => {
      connection.get(1, '/hold')
      connection.send(rstStream(1), frame(frameType.continuation, flag.endHeaders, 1, block(['x', '1'])))
    }),
    must('closed by RST_STREAM: PRIORITY', ignored(), async connection => {
      connection.get(1, '/hold')
      connection.send(rstStream(1), priority(1))
    }),
    may('closed: DATA', closedStream(1), async connection => {
      connection.get(1)
      await connection.response()
      connection.send(data(1, 'x', flag.endStream))
    }),
    must('closed: HEADERS', connectionError('streamClosed', 'protocol'), async connection => {
      connection.get(1)
      await connection.response()
      connection.get(1)
    }),
    must('closed: WINDOW_UPDATE, RST_STREAM and PRIORITY', ignored(), async connection => {
      connection.get(1)
      await connection.response()
      connection.send(windowUpdate(1, 1), priority(1), rstStream(1))
    }),
    must('reset by the server: DATA, HEADERS and WINDOW_UPDATE on their way', served(3), async connection => {
      connection.post(1, '/hold', ['X-Upper', '1'])
      connection.send(data(1, 'x'), windowUpdate(1, 1), trailers(1))
      await connection.response()
      connection.get(3)
    }),
    must('reset by the server: HEADERS on their way count for the table', served(3), connection => {
      connection.post(1, '/hold', ['X-Upper', '1'])
      connection.headers(1, [added('x-late', '1')])
      connection.get(3, '/', indexed(62))
    }),
  ),
  ...section(
    '5.1.1',
    must('a stream with an even number', connectionError('protocol'), connection => connection.get(2)),
    must(
      'a stream with a lower number than one before',
      connectionError('protocol', 'streamClosed'),
      async connection => {
        connection.get(5)
        await connection.response(5)
        connection.get(3)
      },
    ),
    must(
      'a number that was skipped while another stream is open',
      connectionError('protocol', 'streamClosed'),
      connection => {
        connection.get(5, '/hold')
        connection.get(3)
      },
    ),
    must('the same number again', connectionError('protocol', 'streamClosed'), async connection => {
      connection.get(1)
      await connection.response()
      connection.get(1)
    }),
    must('numbers may be left out', served(101), connection => {
      connection.get(1)
      connection.get(101)
    }),
    must('the highest number', served(0x7fff_ffff), connection => connection.get(0x7fff_ffff)),
    must('HEADERS on stream 0', connectionError('protocol'), connection => connection.get(0)),
    must('a skipped stream is closed: WINDOW_UPDATE and RST_STREAM', ignored(), async connection => {
      connection.get(5)
      await connection.response(5)
      connection.send(windowUpdate(3, 1), rstStream(3))
    }),
  ),
  ...section(
    '5.1.2',
    must('more streams than SETTINGS_MAX_CONCURRENT_STREAMS', streamsAtOnce, () => {}),
    must(
      'streams that are open one after another are not counted together',
      check('all are served', async connection => {
        for (let stream = 1; stream < 300; stream += 2) {
          connection.get(stream)
          if (statusOf(await connection.response(stream)) !== 200) return endOf(connection, stream)
        }
        return null
      }),
      () => {},
    ),
    must('SETTINGS_MAX_CONCURRENT_STREAMS of 0 does not concern requests', served(), connection => {
      connection.send(settings([setting.maxConcurrentStreams, 0]))
      connection.get(1)
    }),
  ),
  ...section(
    '5.2',
    having(
      [[setting.initialWindowSize, 0]],
      must('a stream without a window does not hold up another', served(3), async connection => {
        connection.get(1, '/bytes/100')
        connection.get(3, '/bytes/100')
        connection.send(windowUpdate(3, 100))
      }),
    ),
  ),
  ...section(
    '5.3.2',
    must('HEADERS with a priority', served(), connection =>
      connection.send(
        frame(
          frameType.headers,
          flag.endHeaders | flag.endStream | flag.priority,
          1,
          Buffer.concat([uint32(0x8000_0000), Buffer.from([200]), block(...connection.fields())]),
        ),
      ),
    ),
    must('PRIORITY_UPDATE (RFC 9218) before its stream', served(), connection => {
      connection.send(
        frame(frameType.priorityUpdate, 0, 0, Buffer.concat([uint32(1), Buffer.from('u=1, i')])),
      )
      connection.get(1)
    }),
  ),
  ...section(
    '5.4.1',
    must(
      'GOAWAY names the last stream that was processed',
      check('GOAWAY with stream 3, then the end', async connection => {
        connection.get(3)
        await connection.response(3)
        connection.send(data(0, 'x'))
        await connection.until(() => connection.goAway !== null)
        const last = connection.frames.find(({ type }) => type === frameType.goAway)?.payload.readUInt32BE(0)
        if (last === undefined) return endOf(connection, 0)
        if (last !== 3) return `stream ${last}`
        return (await connection.until(() => connection.isClosed)) ? null : 'not closed'
      }),
      () => {},
    ),
    should(
      'the end of a connection is announced by GOAWAY',
      check('GOAWAY', async connection =>
        (await connection.until(() => connection.goAway !== null)) ? null : endOf(connection, 0),
      ),
      connection => connection.send(frame(frameType.ping, 0, 1, '12345678')),
    ),
  ),
  ...section(
    '5.4.2',
    must(
      'RST_STREAM is not answered by RST_STREAM',
      check('no RST_STREAM', async connection => {
        connection.get(1, '/hold')
        connection.send(rstStream(1), rstStream(1))
        if (!(await connection.settled())) return endOf(connection, 0)
        return connection.on(1).code === null ? null : endOf(connection, 1)
      }),
      () => {},
    ),
    must('an error of a stream leaves the others alone', served(3), connection => {
      connection.post(3)
      connection.get(5, '/', ['X-Upper', '1'])
      connection.send(data(3, 'x', flag.endStream))
    }),
  ),
  ...section(
    '5.5',
    must('a frame of an unknown type amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), flag.endStream)
      connection.send(frame(0x5c, 0, 1))
    }),
    must('an unknown setting and a frame of an unknown type', served(), connection => {
      connection.send(settings([0x5c5c, 0xffff_ffff]), frame(0x5c, 0, 0))
      connection.get(1)
    }),
    may('a reserved type of frame (RFC 8701)', served(), connection => {
      connection.send(frame(0x0b, 0x55, 0, 'grease'), frame(0x2a, 0x55, 0))
      connection.get(1)
    }),
  ),
]
