// The behaviour of the demo origin on each path: one row for each kind of faulty origin.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { reset } from '../../net/socket/reset.ts'

interface Misdeed {
  readonly path: string
  readonly example: string
  readonly expect: string
  readonly commit: (response: ServerResponse, request: IncomingMessage, url: URL) => unknown
}

const filler = Buffer.alloc(1024 * 1024, 'gatehouse\n')

export const misdeeds: readonly Misdeed[] = [
  {
    path: '/echo',
    example: '/echo',
    expect: 'Nothing wrong: the request as the origin saw it, with its method, headers and body.',
    commit: echo,
  },
  {
    path: '/slow',
    example: '/slow?ms=7000',
    expect: 'The response is delayed; more than five seconds are error 524.',
    commit: slow,
  },
  {
    path: '/reset',
    example: '/reset',
    expect: 'The origin resets the connection before it responds: error 520.',
    commit: (_, { socket }) => reset(socket),
  },
  {
    path: '/truncate',
    example: '/truncate',
    expect:
      'The origin promises 1,000 bytes and ends after a few: the connection is cut, so that nobody takes the response for complete.',
    commit: truncate,
  },
  {
    path: '/garbage',
    example: '/garbage',
    expect: 'The response is not HTTP: error 520.',
    commit: (_, { socket }) => socket.end('220 mail.example ESMTP ready\r\n'),
  },
  {
    path: '/huge-headers',
    example: '/huge-headers',
    expect: 'The header section of the response is larger than the gateway accepts: error 520.',
    commit: response => {
      for (let i = 0; i < 300; i++) response.setHeader(`x-filler-${i}`, 'x'.repeat(1000))
      response.end()
    },
  },
  {
    path: '/chunked',
    example: '/chunked',
    expect: 'A body of unknown length in five pieces, each forwarded as it arrives.',
    commit: response =>
      trickle(
        response,
        'text/plain',
        5,
        200,
        i => `piece ${i}\n`,
        () => response.end(),
      ),
  },
  {
    path: '/big',
    example: '/big?bytes=10485760',
    expect: 'A large body, sent no faster than you read it.',
    commit: big,
  },
  {
    path: '/sse',
    example: '/sse?n=10&ms=500',
    expect: 'An event stream: each event arrives when it is sent.',
    commit: (response, _, { searchParams }) => {
      const [n, ms] = [numberIn(searchParams, 'n', 10), numberIn(searchParams, 'ms', 500)]
      return trickle(response, 'text/event-stream', n, ms, event, () => response.end())
    },
  },
  {
    path: '/sse-cut',
    example: '/sse-cut',
    expect: 'An event stream whose origin dies after three events: a last event says so.',
    commit: (response, { socket }) =>
      trickle(response, 'text/event-stream', 3, 300, event, () => socket.destroy()),
  },
  {
    path: '/status/',
    example: '/status/503',
    expect: 'An error of the origin itself, with its own Retry-After; it passes unchanged.',
    commit: status,
  },
]

async function echo(response: ServerResponse, request: IncomingMessage): Promise<void> {
  const { method, url, headers } = request
  const body = Buffer.concat(await request.toArray()).toString()
  response.setHeader('content-type', 'application/json')
  response.end(`${JSON.stringify({ method, url, headers, body }, null, 2)}\n`)
}

async function slow(response: ServerResponse, _: IncomingMessage, { searchParams }: URL): Promise<void> {
  const ms = numberIn(searchParams, 'ms', 3000)
  await wait(ms)
  response.end(`This took ${ms} ms.\n`)
}

function truncate(response: ServerResponse, { socket }: IncomingMessage): void {
  response.setHeader('content-length', 1000)
  response.write('This is not a thousand byt', () => socket.destroy())
}

function big(response: ServerResponse, _: IncomingMessage, { searchParams }: URL): Promise<void> {
  const bytes = numberIn(searchParams, 'bytes', 10 * filler.length)
  response.setHeader('content-length', bytes)
  return pipeline(pieces(bytes), response)
}

function* pieces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= filler.length) yield filler.subarray(0, left)
}

function status(response: ServerResponse, _: IncomingMessage, { pathname }: URL): void {
  const code = Number(pathname.slice('/status/'.length))
  response.statusCode = code >= 200 && code <= 599 ? code : 400
  if (code === 429 || code === 503) response.setHeader('retry-after', 7)
  response.end(`The origin itself responds with ${response.statusCode}.\n`)
}

/** Sends a piece every `ms`, unless the client reads more slowly; rejects when the client disconnects. */
async function trickle(
  response: ServerResponse,
  type: string,
  count: number,
  ms: number,
  piece: (i: number) => string,
  end: () => void,
): Promise<void> {
  response.setHeader('content-type', type)
  await pipeline(spaced(count, ms, piece), response, { end: false })
  end()
}

async function* spaced(count: number, ms: number, piece: (i: number) => string): AsyncGenerator<string> {
  for (let i = 1; i <= count; i++) {
    yield piece(i)
    await wait(ms)
  }
}

function event(i: number): string {
  return `id: ${i}\ndata: {"event": ${i}}\n\n`
}

function numberIn(query: URLSearchParams, name: string, usual: number): number {
  const number = Number.parseInt(query.get(name) ?? '', 10)
  return number >= 0 ? Math.min(number, 1e9) : usual
}
