// RFC 9110 section 7.8 and RFC 6455: protocols that a connection may change to, and WebSocket as bytes in a tunnel.

import { closeFrame, frame, opcodes } from '../../../help/frames.ts'
import { sentFrames } from '../../websocket.ts'
import { answering, looks, must, section, served } from '../expect.ts'

const host = 'Host: site.test\r\n'
const key = 'dGhlIHNhbXBsZSBub25jZQ=='
const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
const switching = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
const handshake = (path: string, more = '') =>
  `GET ${path}main HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${more}\r\n`

/** Everything that a client sends comes back as it is: the gateway reads no frames. */
const tunnel = (title: string, ...pieces: readonly (Buffer | string)[]) =>
  answering(
    switching,
    must(
      title,
      looks('the same bytes', 1, async ({ client }) => {
        if (!(await client.until(() => client.received.includes('\r\n\r\n')))) return 'no response'
        if (!client.received.startsWith('HTTP/1.1 101')) return client.received.slice(0, 40)
        const bytes = pieces
          .map(piece => (typeof piece === 'string' ? piece : piece.toString('latin1')))
          .join('')
        for (const piece of pieces) client.send(typeof piece === 'string' ? piece : piece.toString('latin1'))
        const echo = () => client.received.slice(client.received.indexOf('\r\n\r\n') + 4)
        await client.until(() => echo().length >= bytes.length)
        return echo() === bytes ? null : `${echo().length} bytes of ${bytes.length}`
      }),
      handshake,
    ),
  )

const masked = (opcode: number, text: Buffer | string, isFinal = true) =>
  frame({ opcode, payload: Buffer.from(text as string), isFinal, isMasked: true })

/** What the origin sends gets to the client, fields of the handshake among it. */
const handed = (title: string, response: string, holds: (received: string) => boolean, more = '') =>
  answering(
    response,
    must(
      title,
      looks('as it was sent', 1, async ({ client }) => {
        await client.until(() => holds(client.received))
        return holds(client.received) ? null : client.received.slice(0, 60)
      }),
      path => handshake(path, more),
    ),
    true,
  )

const switchingWith = (fields: string) => switching.replace(/\r\n$/, `${fields}\r\n`)

export const upgradeCases = [
  ...section(
    'RFC 9110 7.8',
    must(
      'an unknown protocol is ignored',
      served(['main', '']),
      path => `GET ${path}main HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: foo/1\r\n\r\n`,
    ),
    must(
      'h2c is ignored',
      served(['main', '']),
      path =>
        `GET ${path}main HTTP/1.1\r\n${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    ),
    must(
      'Upgrade that Connection does not name is ignored',
      served(['main', '']),
      path => `GET ${path}main HTTP/1.1\r\n${host}Connection: close\r\nUpgrade: websocket\r\n\r\n`,
    ),
    must(
      'Upgrade in HTTP/1.0 is ignored',
      served(['main', '']),
      path => `GET ${path}main HTTP/1.0\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ),
  ),
  ...section(
    'RFC 6455 4',
    answering(
      'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno',
      must(
        'an origin may refuse',
        looks('403', 1, ({ client }) =>
          client.responses()[0]?.status === 403 ? null : client.received.slice(0, 40),
        ),
        handshake,
      ),
    ),
    answering(
      switching,
      must(
        'the first bytes come with the handshake',
        looks('the same bytes', 1, async ({ client }) => {
          await client.until(() => client.received.endsWith('early'))
          return client.received.endsWith('\r\n\r\nearly') ? null : client.received.slice(-40)
        }),
        path => `${handshake(path)}early`,
      ),
    ),
    answering(
      switching,
      must(
        'a request behind the handshake is part of the tunnel',
        looks('nothing else at the origin', 1, async ({ client, origin, number }) => {
          await client.until(() => client.received.endsWith('hidden HTTP/1.1\r\n\r\n'))
          return origin.of(number).length === 1 ? null : 'the hidden request got there'
        }),
        path => `${handshake(path)}GET ${path}hidden HTTP/1.1\r\n\r\n`,
      ),
    ),
  ),
  ...section(
    'RFC 6455 9',
    answering(
      switchingWith('Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n'),
      must(
        'extensions are agreed between client and origin',
        looks('the offer and what is taken of it', 1, async ({ client, origin, number }) => {
          await client.until(() => client.received.includes('\r\n\r\n'))
          const [request] = origin.of(number)
          const offers = request?.all('sec-websocket-extensions').join(', ')
          if (offers !== 'permessage-deflate; client_max_window_bits, x-a; b="c"') return `${offers}`
          const taken = /^sec-websocket-extensions: permessage-deflate; server_no_context_takeover\r$/im
          return taken.test(client.received) ? null : client.received.slice(0, 200)
        }),
        path =>
          handshake(
            path,
            'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nSec-WebSocket-Extensions: x-a; b="c"\r\n',
          ),
      ),
    ),
    handed(
      'a subprotocol that the origin chooses',
      switchingWith('Sec-WebSocket-Protocol: chat.v2\r\n'),
      received => /^sec-websocket-protocol: chat\.v2\r$/im.test(received),
      'Sec-WebSocket-Protocol: chat.v1, chat.v2\r\n',
    ),
    handed(
      'a refusal that names the versions of the origin',
      'HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n',
      received => received.startsWith('HTTP/1.1 426') && /^sec-websocket-version: 13\r$/im.test(received),
    ),
    handed('frames right behind the handshake', `${switching}\x81\x05hello`, received =>
      received.endsWith('\r\n\r\n\x81\x05hello'),
    ),
    handed('a close, and the end of the connection behind it', `${switching}\x88\x02\x03\xe8`, received =>
      received.endsWith('\x88\x02\x03\xe8'),
    ),
    handed('a frame that is cut by the end of the connection', `${switching}\x81\x05hel`, received =>
      received.endsWith('\x81\x05hel'),
    ),
  ),
  ...section('RFC 6455 5.2', ...sentFrames.map(([title, ...pieces]) => tunnel(title, ...pieces))),
  ...section(
    'RFC 6455 5',
    tunnel('a text', masked(opcodes.text, 'hello')),
    tunnel('a text of 126 bytes', masked(opcodes.text, 'x'.repeat(126))),
    tunnel('a text of 65,536 bytes', masked(opcodes.binary, 'x'.repeat(65_536))),
    tunnel(
      'a text in fragments',
      masked(opcodes.text, 'he', false),
      masked(opcodes.continuation, 'l', false),
      masked(opcodes.continuation, 'lo'),
    ),
    tunnel(
      'a ping between two fragments',
      masked(opcodes.text, 'he', false),
      masked(opcodes.ping, 'p'),
      masked(opcodes.continuation, 'llo'),
    ),
    tunnel('a pong that nobody asked for', masked(opcodes.pong, 'p')),
    tunnel('frames of one byte each', ...[...masked(opcodes.text, 'hello')].map(byte => Buffer.from([byte]))),
    tunnel('a text that is no UTF-8', masked(opcodes.text, Buffer.from([0xc0, 0xaf, 0xff]))),
    tunnel(
      'a character in two fragments',
      masked(opcodes.text, Buffer.from([0xe2, 0x82]), false),
      masked(opcodes.continuation, Buffer.from([0xac])),
    ),
    tunnel('reserved bits and an unknown type', Buffer.from([0xf3, 0x80, 1, 2, 3, 4])),
    tunnel('a frame without a mask', frame({ opcode: opcodes.text, payload: Buffer.from('hello') })),
    tunnel('a ping of 126 bytes', masked(opcodes.ping, 'x'.repeat(126))),
    ...[1000, 1001, 1003, 1007, 1011, 3000, 4999, 999, 1005, 5000].map(code =>
      tunnel(`close with ${code}`, closeFrame(code, true)),
    ),
    tunnel('close without a code', masked(opcodes.close, '')),
    tunnel('close with one byte', masked(opcodes.close, 'x')),
    tunnel('a megabyte in one frame', masked(opcodes.binary, 'x'.repeat(1_000_000))),
  ),
]
