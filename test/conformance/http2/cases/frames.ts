// RFC 9113 sections 6 and 7: each type of frame, flow control, and codes.

import { errorCode, flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import {
  data,
  frame,
  ping,
  rstStream,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from '../../../help/http2.ts'
import { type Connection, statusOf } from '../connection.ts'
import { check, connectionError, endOf, ignored, served, streamError } from '../expect.ts'
import { block } from '../hpack.ts'
import { having, may, must, section, should } from '../write.ts'

const end = flag.endStream
const padded = (length: number, content: string, rest = length) =>
  Buffer.concat([Buffer.from([length]), Buffer.from(content), Buffer.alloc(rest)])
const maxWindow = 0x7fff_ffff

/** The response has this body. */
const echoed = (body: string) =>
  check(`the body ${JSON.stringify(body)}`, async connection => {
    const response = await connection.response()
    return response.body.toString() === body ? null : endOf(connection, 1)
  })

function headersOf(
  connection: Connection,
  flags: number,
  before: Buffer | string = '',
  after: Buffer | string = '',
): Buffer {
  const payload = [Buffer.from(before as string), block(...connection.fields()), Buffer.from(after as string)]
  return frame(frameType.headers, flags, 1, Buffer.concat(payload))
}

const goAway = (stream = 0, code: number = errorCode.none, text = '') =>
  frame(frameType.goAway, 0, stream, Buffer.concat([uint32(0), uint32(code), Buffer.from(text)]))

const acknowledged = (count: number) =>
  check(`${count} acknowledgements`, async connection => {
    await connection.settled()
    const acks = connection.frames.filter(
      ({ type, flags }) => type === frameType.settings && flags === flag.ack,
    )
    // One is that of the SETTINGS with which the connection began.
    return acks.length === count + 1 ? null : `${acks.length - 1} acknowledgements`
  })

/** Waits until a stream has brought so many bytes, and sees that no more come. */
async function brings(connection: Connection, stream: number, bytes: number): Promise<string | null> {
  await connection.until(() => connection.on(stream).body.length >= bytes)
  await connection.settled()
  const { length } = connection.on(stream).body
  return length === bytes ? null : `${length} bytes in place of ${bytes}`
}

/** Steps of flow control, of which each says what is wrong. */
const stepwise = (words: string, ...steps: readonly ((connection: Connection) => Promise<string | null>)[]) =>
  check(words, async connection => {
    for (const step of steps) {
      const wrong = await step(connection)
      if (wrong !== null) return wrong
    }
    return null
  })

export const frameCases = [
  ...section(
    '6.1',
    must('DATA on stream 0', connectionError('protocol'), connection => connection.send(data(0, 'x'))),
    must('padding is no part of the body', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, padded(10, 'body'), flag.padded | end))
    }),
    must('255 bytes of padding', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, padded(255, 'body'), flag.padded | end))
    }),
    must('a length of padding of 0', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, padded(0, 'body'), flag.padded | end))
    }),
    must('padding alone', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, padded(9, ''), flag.padded), data(1, 'body', end))
    }),
    must('padding as long as the frame', connectionError('protocol'), connection => {
      connection.post(1)
      connection.send(data(1, padded(5, 'body', 0), flag.padded | end))
    }),
    must('padding longer than the frame', connectionError('protocol'), connection => {
      connection.post(1)
      connection.send(data(1, padded(200, 'body', 0), flag.padded))
    }),
    must('the length of the padding is missing', connectionError('frameSize', 'protocol'), connection => {
      connection.post(1)
      connection.send(data(1, '', flag.padded))
    }),
    must('the end of a body in a frame without bytes', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, 'body'), data(1, '', end))
    }),
    must(
      'padding counts for flow control, and its room is given back',
      check('a whole response', async connection => {
        connection.post(1)
        let sent = 0
        const credit = () =>
          connection.settingOf(setting.initialWindowSize, 65_535) +
          connection.frames
            .filter(({ type, stream }) => type === frameType.windowUpdate && stream === 1)
            .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
        for (let i = 0; i < 600; i++) {
          if (!(await connection.until(() => credit() - sent >= 257))) return endOf(connection, 1)
          connection.send(data(1, padded(255, 'x'), flag.padded))
          sent += 257
        }
        connection.send(data(1, '', end))
        return (await connection.response()).body.length === 600 ? null : endOf(connection, 1)
      }),
      () => {},
    ),
  ),
  ...section(
    '6.2',
    must('padding', served(), connection =>
      connection.send(headersOf(connection, flag.endHeaders | end | flag.padded, '\x07', Buffer.alloc(7))),
    ),
    must('padding and a priority', served(), connection =>
      connection.send(
        headersOf(
          connection,
          flag.endHeaders | end | flag.padded | flag.priority,
          Buffer.from([7, 0, 0, 0, 0, 10]),
          Buffer.alloc(7),
        ),
      ),
    ),
    must('padding longer than the frame', connectionError('protocol'), connection =>
      connection.send(headersOf(connection, flag.endHeaders | end | flag.padded, Buffer.from([250]))),
    ),
    must('the length of the padding is missing', connectionError('frameSize', 'protocol'), connection =>
      connection.send(frame(frameType.headers, flag.endHeaders | end | flag.padded, 1)),
    ),
    must('a priority that is cut short', connectionError('frameSize', 'protocol'), connection =>
      connection.send(frame(frameType.headers, flag.endHeaders | end | flag.priority, 1, '\0\0\0\0')),
    ),
    must('a header block that another stream interrupts', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.headers(3, connection.fields())
    }),
    must('the end of the stream before the end of its header block', served(), connection => {
      const fields = block(...connection.fields())
      connection.send(
        frame(frameType.headers, end, 1, fields.subarray(0, 9)),
        frame(frameType.continuation, flag.endHeaders, 1, fields.subarray(9)),
      )
    }),
    must('END_STREAM on CONTINUATION is undefined, and ignored', echoed('body'), connection => {
      const fields = block(...connection.fields('POST', '/echo'))
      connection.send(
        frame(frameType.headers, 0, 1, fields.subarray(0, 9)),
        frame(frameType.continuation, flag.endHeaders | end, 1, fields.subarray(9)),
        data(1, 'body', end),
      )
    }),
  ),
  ...section(
    '6.3',
    must('PRIORITY on stream 0', connectionError('protocol'), connection =>
      connection.send(frame(frameType.priority, 0, 0, '\0\0\0\x01\x10')),
    ),
    must('4 bytes', streamError(1, 'frameSize'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.priority, 0, 1, '\0\0\0\0'))
    }),
    must('6 bytes', streamError(1, 'frameSize'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.priority, 0, 1, '\0\0\0\0\0\0'))
    }),
    must('on streams in any state', served(7), async connection => {
      connection.get(1)
      await connection.response()
      connection.send(
        frame(frameType.priority, 0, 1, '\0\0\0\x03\x10'),
        frame(frameType.priority, 0, 9, '\0\0\0\0\x10'),
      )
      connection.get(7)
    }),
    must('the number of a stream is not used up by it', served(3), connection => {
      connection.send(frame(frameType.priority, 0, 101, '\0\0\0\0\x10'))
      connection.get(3)
    }),
  ),
  ...section(
    '6.4',
    must('RST_STREAM on stream 0', connectionError('protocol'), connection => connection.send(rstStream(0))),
    must('on an idle stream', connectionError('protocol'), connection => connection.send(rstStream(7))),
    must('3 bytes', connectionError('frameSize'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.rstStream, 0, 1, '\0\0\0'))
    }),
    must('5 bytes', connectionError('frameSize'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.rstStream, 0, 1, '\0\0\0\x08\0'))
    }),
    must(
      'nothing more comes on a stream that was reset amid its response',
      check('at most what was on its way', async connection => {
        connection.get(1, '/bytes/10000000')
        await connection.until(() => connection.on(1).body.length > 0)
        connection.send(rstStream(1), windowUpdate(0, 1_000_000))
        if (!(await connection.settled())) return endOf(connection, 0)
        const before = connection.on(1).body.length
        connection.get(3)
        await connection.response(3)
        return connection.on(1).body.length === before ? null : 'DATA after the reset'
      }),
      () => {},
    ),
    must('an unknown code', served(3), connection => {
      connection.get(1, '/hold')
      connection.send(rstStream(1, 0x5c5c_5c5c))
      connection.get(3)
    }),
  ),
  ...section(
    '6.5',
    must('without settings', acknowledged(1), connection => connection.send(settings())),
    must('an acknowledgement with bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.settings, flag.ack, 0, '\0\x04\0\0\xff\xff')),
    ),
    must('SETTINGS on a stream', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.settings, 0, 1))
    }),
    must('an acknowledgement on a stream', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.settings, flag.ack, 1))
    }),
    must('5 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.settings, 0, 0, '\0\x04\0\0\xff')),
    ),
    must('7 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.settings, 0, 0, '\0\x04\0\0\xff\xff\0')),
    ),
    may('an acknowledgement of nothing', ignored(), connection => connection.send(settingsAck)),
    must('between the frames of a body', served(), connection => {
      connection.post(1)
      connection.send(data(1, 'a'), settings([setting.maxFrameSize, 20_000]), data(1, 'b', end))
    }),
  ),
  ...section(
    '6.5.2',
    must('SETTINGS_ENABLE_PUSH of 2', connectionError('protocol'), connection =>
      connection.send(settings([setting.enablePush, 2])),
    ),
    must('SETTINGS_ENABLE_PUSH of 2^32 - 1', connectionError('protocol'), connection =>
      connection.send(settings([setting.enablePush, 0xffff_ffff])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE below 16,384', connectionError('protocol'), connection =>
      connection.send(settings([setting.maxFrameSize, 16_383])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE of 0', connectionError('protocol'), connection =>
      connection.send(settings([setting.maxFrameSize, 0])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE of 2^24', connectionError('protocol'), connection =>
      connection.send(settings([setting.maxFrameSize, 2 ** 24])),
    ),
    must('SETTINGS_MAX_FRAME_SIZE of 2^24 - 1', acknowledged(1), connection =>
      connection.send(settings([setting.maxFrameSize, 2 ** 24 - 1])),
    ),
    must('SETTINGS_INITIAL_WINDOW_SIZE of 2^31', connectionError('flowControl'), connection =>
      connection.send(settings([setting.initialWindowSize, 2 ** 31])),
    ),
    must('SETTINGS_INITIAL_WINDOW_SIZE of 2^32 - 1', connectionError('flowControl'), connection =>
      connection.send(settings([setting.initialWindowSize, 0xffff_ffff])),
    ),
    must('SETTINGS_INITIAL_WINDOW_SIZE of 2^31 - 1', acknowledged(1), connection =>
      connection.send(settings([setting.initialWindowSize, maxWindow])),
    ),
    must('SETTINGS_HEADER_TABLE_SIZE of 0 and of 2^32 - 1', served(), connection => {
      connection.send(
        settings([setting.headerTableSize, 0]),
        settings([setting.headerTableSize, 0xffff_ffff]),
      )
      connection.get(1)
    }),
    must('SETTINGS_MAX_HEADER_LIST_SIZE of 2^32 - 1', served(), connection => {
      connection.send(settings([setting.maxHeaderListSize, 0xffff_ffff]))
      connection.get(1)
    }),
    must('an unknown setting', acknowledged(1), connection =>
      connection.send(settings([0xffff, 0xffff_ffff], [0, 0])),
    ),
    must('an invalid value among valid ones', connectionError('protocol'), connection =>
      connection.send(
        settings([setting.maxFrameSize, 20_000], [setting.enablePush, 7], [setting.maxFrameSize, 16_384]),
      ),
    ),
    must('an invalid value that a valid one follows', connectionError('flowControl'), connection =>
      connection.send(settings([setting.initialWindowSize, 2 ** 31], [setting.initialWindowSize, 65_535])),
    ),
    must(
      'the server sets valid values, and no push',
      check('valid SETTINGS', async connection => {
        const size = connection.settingOf(setting.maxFrameSize, 16_384)
        const window = connection.settingOf(setting.initialWindowSize, 65_535)
        if (size < 16_384 || size >= 2 ** 24) return `SETTINGS_MAX_FRAME_SIZE ${size}`
        if (window > maxWindow) return `SETTINGS_INITIAL_WINDOW_SIZE ${window}`
        const push = connection.settingOf(setting.enablePush, 0)
        return push === 0 ? null : `SETTINGS_ENABLE_PUSH ${push}`
      }),
      () => {},
    ),
  ),
  ...section(
    '6.5.3',
    must('each SETTINGS is acknowledged', acknowledged(3), connection =>
      connection.send(
        settings([setting.initialWindowSize, 1]),
        settings(),
        settings([setting.initialWindowSize, 2]),
      ),
    ),
    must(
      'the last value of a setting in a frame counts',
      stepwise('3 bytes', async connection => {
        connection.send(settings([setting.initialWindowSize, 50], [setting.initialWindowSize, 3]))
        connection.get(1, '/bytes/100')
        return brings(connection, 1, 3)
      }),
      () => {},
    ),
    must(
      'a setting is applied before it is acknowledged',
      stepwise('7 bytes', async connection => {
        connection.send(settings([setting.initialWindowSize, 7]))
        connection.get(1, '/bytes/100')
        return brings(connection, 1, 7)
      }),
      () => {},
    ),
  ),
  ...section(
    '6.6',
    must('PUSH_PROMISE from a client', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(
        frame(
          frameType.pushPromise,
          flag.endHeaders,
          1,
          Buffer.concat([uint32(2), block(...connection.fields())]),
        ),
      )
    }),
  ),
  ...section(
    '6.7',
    must(
      'the same bytes come back',
      check('an acknowledgement with these bytes', async connection => {
        connection.send(frame(frameType.ping, 0, 0, '\x00\xffabcd\x80\x01'))
        const isReply = () =>
          connection.frames.some(
            ({ type, flags, payload }) =>
              type === frameType.ping &&
              flags === flag.ack &&
              payload.toString('latin1') === '\x00\xffabcd\x80\x01',
          )
        return (await connection.until(isReply)) ? null : endOf(connection, 0)
      }),
      () => {},
    ),
    must(
      'an acknowledgement is not acknowledged',
      check('no further frame', async connection => {
        connection.send(frame(frameType.ping, flag.ack, 0, 'not here'))
        if (!(await connection.settled())) return endOf(connection, 0)
        const replies = connection.frames.filter(({ payload }) => payload.toString('latin1') === 'not here')
        return replies.length === 0 ? null : 'it was acknowledged'
      }),
      () => {},
    ),
    must('PING on a stream', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.ping, 0, 1, '12345678'))
    }),
    must('an acknowledgement on a stream', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.ping, flag.ack, 1, '12345678'))
    }),
    must('7 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.ping, 0, 0, '1234567')),
    ),
    must('9 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.ping, 0, 0, '123456789')),
    ),
    must('no bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.ping, 0, 0)),
    ),
    must('an acknowledgement of 4 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.ping, flag.ack, 0, '1234')),
    ),
  ),
  ...section(
    '6.8',
    must('GOAWAY on a stream', connectionError('protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(goAway(1))
    }),
    must('7 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.goAway, 0, 0, '\0\0\0\0\0\0\0')),
    ),
    must(
      'a request in progress is completed',
      check('a whole response', async connection => {
        connection.post(1)
        connection.send(goAway(), data(1, 'body', end))
        const response = await connection.response()
        return statusOf(response) === 200 && response.body.toString() === 'body' ? null : endOf(connection, 1)
      }),
      () => {},
    ),
    must('with text for people', served(), connection => {
      connection.get(1, '/later')
      connection.send(goAway(0, errorCode.none, 'goodbye \0\xff'))
    }),
    must('twice', served(), connection => {
      connection.get(1, '/later')
      connection.send(goAway(), goAway())
    }),
  ),
  ...section(
    '6.9',
    must('0 on a stream', streamError(1, 'protocol'), connection => {
      connection.get(1, '/hold')
      connection.send(windowUpdate(1, 0))
    }),
    must('0 on the connection', connectionError('protocol'), connection =>
      connection.send(windowUpdate(0, 0)),
    ),
    must('0 with the reserved bit', connectionError('protocol'), connection =>
      connection.send(windowUpdate(0, 0x8000_0000)),
    ),
    must('3 bytes', connectionError('frameSize'), connection =>
      connection.send(frame(frameType.windowUpdate, 0, 0, '\0\0\x01')),
    ),
    must('5 bytes on a stream', connectionError('frameSize'), connection => {
      connection.get(1, '/hold')
      connection.send(frame(frameType.windowUpdate, 0, 1, '\0\0\0\x01\0'))
    }),
    must('on an idle stream', connectionError('protocol'), connection => connection.send(windowUpdate(9, 1))),
    having(
      [[setting.initialWindowSize, 5]],
      must(
        'the reserved bit is ignored',
        stepwise(
          '5, then 8 bytes',
          async connection => {
            connection.get(1, '/bytes/100')
            return brings(connection, 1, 5)
          },
          async connection => {
            connection.send(windowUpdate(1, 0x8000_0003))
            return brings(connection, 1, 8)
          },
        ),
        () => {},
      ),
    ),
  ),
  ...section(
    '6.9.1',
    having(
      [[setting.initialWindowSize, 1]],
      must(
        'the window of a stream is kept to, byte by byte',
        stepwise(
          '1, 2, 3 and 100 bytes',
          async connection => {
            connection.get(1, '/bytes/100')
            return brings(connection, 1, 1)
          },
          async connection => {
            connection.send(windowUpdate(1, 1))
            return brings(connection, 1, 2)
          },
          async connection => {
            connection.send(windowUpdate(1, 1))
            return brings(connection, 1, 3)
          },
          async connection => {
            connection.send(windowUpdate(1, 97))
            return (await connection.response()).body.length === 100 ? null : endOf(connection, 1)
          },
        ),
        () => {},
      ),
    ),
    having(
      [[setting.initialWindowSize, 1_000_000]],
      must(
        'the window of the connection is kept to',
        stepwise(
          '65,535 bytes, then the rest',
          async connection => {
            connection.get(1, '/bytes/100000')
            return brings(connection, 1, 65_535)
          },
          async connection => {
            connection.send(windowUpdate(0, 100_000))
            return (await connection.response()).body.length === 100_000 ? null : endOf(connection, 1)
          },
        ),
        () => {},
      ),
    ),
    having(
      [[setting.initialWindowSize, 1_000_000]],
      must(
        'two streams share the window of the connection',
        check('65,535 bytes, then the rest of both', async connection => {
          connection.get(1, '/bytes/50000')
          connection.get(3, '/bytes/50000')
          const sum = () => connection.on(1).body.length + connection.on(3).body.length
          await connection.until(() => sum() >= 65_535)
          await connection.settled()
          if (sum() !== 65_535) return `${sum()} bytes`
          connection.send(windowUpdate(0, 50_000))
          await connection.response(1)
          await connection.response(3)
          return sum() === 100_000 ? null : `${sum()} bytes in the end`
        }),
        () => {},
      ),
    ),
    having(
      [[setting.initialWindowSize, 0]],
      must('fields are sent without a window', served(1, 204), connection =>
        connection.get(1, '/status/204'),
      ),
    ),
    must('the window of the connection becomes 2^31', connectionError('flowControl'), connection =>
      connection.send(windowUpdate(0, maxWindow)),
    ),
    must(
      'the window of the connection becomes 2^31 by two updates',
      connectionError('flowControl'),
      connection => connection.send(windowUpdate(0, maxWindow - 65_535), windowUpdate(0, 1)),
    ),
    must('the window of the connection becomes 2^31 - 1', ignored(), connection =>
      connection.send(windowUpdate(0, maxWindow - 65_535)),
    ),
    must('the window of a stream becomes 2^31', streamError(1, 'flowControl'), connection => {
      connection.get(1, '/hold')
      connection.send(windowUpdate(1, maxWindow))
    }),
    must('the window of a stream becomes 2^31 by two updates', streamError(1, 'flowControl'), connection => {
      connection.get(1, '/hold')
      connection.send(windowUpdate(1, maxWindow - 65_535), windowUpdate(1, 1))
    }),
    must('the window of a stream becomes 2^31 - 1', ignored(), connection => {
      connection.get(1, '/hold')
      connection.send(windowUpdate(1, maxWindow - 65_535))
    }),
  ),
  ...section(
    '6.9.2',
    having(
      [[setting.initialWindowSize, 0]],
      must(
        'a larger first window counts for open streams',
        stepwise(
          'no bytes, then 5',
          async connection => {
            connection.get(1, '/bytes/100')
            await connection.until(() => connection.on(1).sections.length > 0)
            return brings(connection, 1, 0)
          },
          async connection => {
            connection.send(settings([setting.initialWindowSize, 5]))
            return brings(connection, 1, 5)
          },
        ),
        () => {},
      ),
    ),
    having(
      [[setting.initialWindowSize, 10]],
      must(
        'a smaller first window makes that of an open stream negative',
        stepwise(
          '10 bytes, no more at 0, then 13',
          async connection => {
            connection.get(1, '/bytes/100')
            return brings(connection, 1, 10)
          },
          async connection => {
            connection.send(settings([setting.initialWindowSize, 5]), windowUpdate(1, 5))
            return brings(connection, 1, 10)
          },
          async connection => {
            connection.send(windowUpdate(1, 3))
            return brings(connection, 1, 13)
          },
        ),
        () => {},
      ),
    ),
    must(
      'a first window that makes that of an open stream 2^31',
      connectionError('flowControl'),
      connection => {
        connection.get(1, '/hold')
        connection.send(windowUpdate(1, maxWindow - 65_535), settings([setting.initialWindowSize, 65_536]))
      },
    ),
    must(
      'the window of the connection is not changed by SETTINGS',
      stepwise('65,535 bytes', async connection => {
        connection.send(settings([setting.initialWindowSize, 500_000]))
        connection.get(1, '/bytes/100000')
        return brings(connection, 1, 65_535)
      }),
      () => {},
    ),
  ),
  ...section(
    '6.9.3',
    having(
      [[setting.initialWindowSize, 0]],
      should(
        'a first window of 0 holds up no stream without a body',
        check('two whole responses', async connection => {
          connection.get(1, '/status/204')
          connection.headers(3, connection.fields('HEAD', '/'))
          for (const stream of [1, 3])
            if (statusOf(await connection.response(stream)) < 200) return endOf(connection, stream)
          return null
        }),
        () => {},
      ),
    ),
  ),
  ...section(
    '6.10',
    must('after HEADERS that are whole', connectionError('protocol'), connection => {
      connection.post(1, '/hold')
      connection.send(frame(frameType.continuation, flag.endHeaders, 1, block(['x-late', '1'])))
    }),
    must('after DATA', connectionError('protocol'), connection => {
      connection.post(1, '/hold')
      connection.send(data(1, 'x'), frame(frameType.continuation, flag.endHeaders, 1, block(['x-late', '1'])))
    }),
    must('after CONTINUATION that was the last', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields('POST', '/hold'), 0)
      connection.send(
        frame(frameType.continuation, flag.endHeaders, 1),
        frame(frameType.continuation, flag.endHeaders, 1),
      )
    }),
    must('on stream 0', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(frame(frameType.continuation, flag.endHeaders, 0))
    }),
    must('on another stream', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(frame(frameType.continuation, flag.endHeaders, 3))
    }),
    must('DATA amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields('POST'), 0)
      connection.send(data(1, 'x'))
    }),
    must('PING amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(ping)
    }),
    must('SETTINGS amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(settings())
    }),
    must('WINDOW_UPDATE amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(windowUpdate(0, 1))
    }),
    must('PRIORITY amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(frame(frameType.priority, 0, 1, '\0\0\0\0\x10'))
    }),
    must('RST_STREAM amid a header block', connectionError('protocol'), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(rstStream(1))
    }),
    must('in frames without bytes', served(), connection => {
      connection.headers(1, connection.fields(), end)
      connection.send(
        frame(frameType.continuation, 0, 1),
        frame(frameType.continuation, 0, 1),
        frame(frameType.continuation, flag.endHeaders, 1),
      )
    }),
    must('of a trailer section', echoed('body'), connection => {
      connection.post(1)
      connection.send(data(1, 'body'))
      connection.headers(1, [['x-late', '1']], end)
      connection.send(frame(frameType.continuation, flag.endHeaders, 1, block(['x-later', '2'])))
    }),
  ),
  ...section(
    '7',
    must('an unknown code in GOAWAY', served(), connection => {
      connection.get(1, '/later')
      connection.send(goAway(0, 0x5c5c_5c5c))
    }),
    may('a reset with NO_ERROR', served(3), connection => {
      connection.get(1, '/hold')
      connection.send(rstStream(1, errorCode.none))
      connection.get(3)
    }),
  ),
]
