// Mutations of HTTP/2 to origins.

import type { Mutated } from './mutation.ts'

export const http2Origin: readonly Mutated[] = [
  {
    file: 'http2/client/session.ts',
    tests: ['http2/client/session'],
    changes: [
      {
        text: 'if (this.#idleFrames < 0) this.break',
        becomes: 'if (false) this.break',
        breaks: 'an origin may flood the gateway with frames that say nothing',
        tests: ['wire/http2-origin-failures'],
      },
    ],
  },
  {
    file: 'http2/client/control-frames.ts',
    tests: ['http2/client/session'],
    changes: [
      {
        text: "stream.hasHead ? 'reset' : (untouched.get(code) ?? 'reset')",
        becomes: "'refused'",
        breaks: 'a request that an origin worked on is sent again, whatever its method',
      },
      {
        text: 'if (stream.id > last && stream.heldEnd === null)',
        becomes: 'if (stream.heldEnd === null)',
        breaks: 'what an origin completes behind a GOAWAY is lost',
      },
    ],
  },
  {
    file: 'http2/client/data-frames.ts',
    tests: ['http2/client/session'],
    changes: [
      {
        text: 'const isWrong = stream.remaining < 0 || (isEnd && stream.remaining > 0)',
        becomes: 'const isWrong = false',
        breaks: 'a body that is cut passes for a whole one',
      },
    ],
  },
  {
    file: 'http2/client/inflow.ts',
    tests: ['http2/client/session'],
    changes: [
      {
        text: 'return (stream.receiveWindow -= length) >= 0',
        becomes: 'return true',
        breaks: 'an origin may send more than a stream allows',
        tests: ['wire/http2-origin-failures'],
      },
      {
        text: 'return (this.#strays -= length) >= 0',
        becomes: 'return true',
        breaks: 'an origin may send for ever on a stream that was cancelled',
      },
      {
        text: 'if (stream.isPaused || stream.held.length > 0) stream.hold(bytes)\n    else this.#deliver',
        becomes: 'this.#deliver',
        breaks: 'a client that does not read has all of a response in memory',
      },
    ],
  },
  {
    file: 'http2/frames/header-block.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'if (++this.#frames > limits.frames) return',
        becomes: 'if (++this.#frames < 0) return',
        breaks: 'a head in frames without end holds the connection',
        tests: ['wire/http2-origin-failures'],
      },
    ],
  },
  {
    file: 'http2/hpack/encoder.ts',
    tests: ['wire/ai-http2'],
    changes: [
      {
        text: "const unlistedSecrets = ['x-api-key', 'x-goog-api-key', 'api-key']",
        becomes: 'const unlistedSecrets: string[] = []',
        breaks: 'the keys of providers lie in the tables of hops behind the gateway',
      },
      {
        text: 'const flags = secrets.includes(name) ? neverIndexed : 0',
        becomes: 'const flags = 0',
        breaks: 'credentials lie in the tables of hops behind the gateway',
      },
    ],
  },
  {
    file: 'http2/frames/request-block.ts',
    tests: ['wire/ai-http2'],
    changes: [
      {
        text: 'const secretPath = 0x10 | names.path',
        becomes: 'const secretPath = names.path',
        breaks: 'keys in queries lie in the tables of hops behind the gateway',
      },
    ],
  },
  {
    file: 'http2/client/response-fields.ts',
    tests: ['wire/http2-origin-failures'],
    changes: [
      {
        text: '!isSound || isOfConnection(id)) this.isMalformed = true\n    else if (!head',
        becomes: 'isOfConnection(id)) this.isMalformed = true\n    else if (!head',
        breaks: 'an origin can split the responses of clients of HTTP/1.1',
      },
      {
        text: 'if (status === 101) this.isMalformed = true',
        becomes: '',
        breaks: 'a stream passes for a tunnel',
      },
    ],
  },
  {
    file: 'edge/origin/http2/multiplexed.ts',
    tests: ['wire/http2-origins'],
    changes: [
      {
        text: 'return !needsHttp1 && this.#clock',
        becomes: 'return this.#clock',
        breaks: 'WebSockets fail where their origin speaks HTTP/2',
      },
      {
        text: 'if (connection.session.isWorn && this.#owner.room > 0) connection.isReplaced = true',
        becomes: '',
        breaks: 'a client that leaves often has an origin end the requests of others',
      },
      {
        text: 'if (!connection.session.isSilent) return connection',
        becomes: 'return connection',
        breaks: 'all requests wait for an origin that is gone until they time out',
      },
      {
        text: "if (!fresh && this.#isFull()) return waiter.failed('connect', fault('GH_QUEUE_FULL'), undialled)",
        becomes: '',
        breaks: 'the queue for streams has no end',
      },
      {
        text: 'this.#waiting.serveFirst(connection)',
        becomes: 'if (!this.#waiting.serve(connection)) break',
        breaks: 'a request that was refused waits for a new connection where there may be none',
      },
      {
        text: 'while (this.#dials.size < worth && this.#owner.room > 0)',
        becomes: 'while (this.#dials.size < worth)',
        breaks: 'more connections of HTTP/2 are opened than an origin may have',
      },
    ],
  },
]
