// RFC 8441: WebSocket over a stream.

import { flag, setting } from '../../../../src/http2/frames/frames.ts'
import { data, rstStream, settings } from '../../../help/http2.ts'
import { sentFrames } from '../../websocket.ts'
import { type Connection, statusOf } from '../connection.ts'
import { check, connectionError, endOf, malformed, refused, served } from '../expect.ts'
import type { Field } from '../hpack.ts'
import { must, section, should } from '../write.ts'

const connect = (connection: Connection): Field[] => [
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  ...connection.fields('', '/ws').slice(1),
  ['sec-websocket-version', '13'],
]

function open(connection: Connection, ...more: readonly Field[]): void {
  connection.headers(1, [...connect(connection), ...more], flag.endHeaders)
}

const without = (name: string) => (connection: Connection) =>
  connection.headers(
    1,
    connect(connection).filter(field => Buffer.isBuffer(field) || field[0] !== name),
    flag.endHeaders,
  )

/** The tunnel is open, and what happens then has this effect. */
const tunnel = (words: string, look: (connection: Connection) => Promise<string | null>) =>
  check(words, async connection => {
    await connection.until(() => connection.on(1).sections.length > 0 || connection.on(1).code !== null)
    return statusOf(connection.on(1)) === 200 ? look(connection) : endOf(connection, 1)
  })

async function brings(connection: Connection, text: string): Promise<string | null> {
  await connection.until(() => connection.on(1).body.length >= text.length)
  const body = connection.on(1).body.toString('latin1')
  return body === text ? null : `${JSON.stringify(body)}`
}

export const webSocketCases = [
  ...section(
    'RFC 8441 3',
    should(
      'SETTINGS_ENABLE_CONNECT_PROTOCOL is 1',
      check('1', async connection =>
        connection.settingOf(setting.enableConnectProtocol, 0) === 1 ? null : 'not set',
      ),
      () => {},
    ),
    should('SETTINGS_ENABLE_CONNECT_PROTOCOL of 2', connectionError('protocol'), connection =>
      connection.send(settings([setting.enableConnectProtocol, 2])),
    ),
    must('SETTINGS_ENABLE_CONNECT_PROTOCOL of 1 from a client has no effect', served(), connection => {
      connection.send(settings([setting.enableConnectProtocol, 1]))
      connection.get(1)
    }),
  ),
  ...section(
    'RFC 8441 4',
    must('no :scheme', malformed(), without(':scheme')),
    must('no :path', malformed(), without(':path')),
    must('no :authority', malformed(), without(':authority')),
    must(':protocol with GET', malformed(), connection =>
      connection.headers(1, [...connection.fields(), [':protocol', 'websocket']]),
    ),
    must(':protocol twice', malformed(), connection =>
      connection.headers(1, [[':protocol', 'websocket'], ...connect(connection)], flag.endHeaders),
    ),
    should('an unknown protocol', refused(), connection =>
      connection.headers(
        1,
        connect(connection).map(field =>
          Buffer.isBuffer(field) || field[0] !== ':protocol' ? field : [':protocol', 'telnet'],
        ),
        flag.endHeaders,
      ),
    ),
    must('connection and upgrade', malformed(), connection =>
      open(connection, ['connection', 'upgrade'], ['upgrade', 'websocket']),
    ),
  ),
  ...section(
    'RFC 8441 5',
    should(
      'the bytes of a tunnel pass both ways',
      tunnel('the same bytes', connection => {
        connection.send(data(1, '\x81\x82\0\0\0\0hi'))
        return brings(connection, '\x81\x82\0\0\0\0hi')
      }),
      open,
    ),
    ...sentFrames.map(([title, ...pieces]) =>
      should(
        title,
        tunnel('the same bytes', connection => {
          for (const piece of pieces) connection.send(data(1, piece.toString('latin1')))
          return brings(connection, pieces.map(piece => piece.toString('latin1')).join(''))
        }),
        open,
      ),
    ),
    should(
      'the end of the client’s side ends the tunnel',
      tunnel('END_STREAM', async connection => {
        connection.send(data(1, '', flag.endStream))
        return (await connection.response()).isOver ? null : endOf(connection, 1)
      }),
      open,
    ),
    should(
      'padding is no part of a tunnel',
      tunnel('the bytes alone', connection => {
        connection.send(data(1, '\x02hi\0\0', flag.padded))
        return brings(connection, 'hi')
      }),
      open,
    ),
    should(
      'a reset ends the tunnel, and no other stream',
      tunnel('200 on stream 3', async connection => {
        connection.send(rstStream(1))
        connection.get(3)
        return statusOf(await connection.response(3)) === 200 ? null : endOf(connection, 3)
      }),
      open,
    ),
    should(
      'no Sec-WebSocket-Accept is needed without a key',
      tunnel('200', async connection => {
        const fields = connection.on(1).sections[0]!
        return fields.some(([name]) => name === 'upgrade' || name === 'connection')
          ? 'a field of HTTP/1.1'
          : null
      }),
      open,
    ),
    should(
      'HEADERS in a tunnel',
      tunnel('a reset', async connection => {
        connection.headers(1, [['x-late', '1']])
        const { code } = await connection.response()
        return code === null ? endOf(connection, 1) : null
      }),
      open,
    ),
  ),
]
