// Mutations of HTTP/2 to clients: what one of them can make us do for nothing.

import type { Mutated } from './mutation.ts'

export const http2Clients: readonly Mutated[] = [
  {
    file: 'http2/server-session.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'if (size <= bearable) return size',
        becomes: 'if (true) return size',
        breaks: 'a connection can send blocks that unpack to megabytes again and again',
      },
      {
        text: 'if (lingersUntil === 0 && !this.#spendReset()) return',
        becomes: '',
        breaks: 'requests cost nothing to a client that closes the connection in place of resetting them',
        tests: ['http2/abuse', 'wire/http2-leaving'],
      },
    ],
  },
  {
    file: 'http2/hpack/decoder.ts',
    tests: ['http2/hpack/decoder'],
    changes: [
      {
        text: 'else if (size > bearable) return size',
        becomes: '',
        breaks: 'a header block that is refused is read to its end all the same',
      },
    ],
  },
  {
    file: 'edge/client/http2-spending.ts',
    tests: ['edge/client/http2-spending'],
    changes: [
      {
        text: 'if (!budgets.resets.charge(reset, now)) return',
        becomes: 'if (false) return',
        breaks: 'a client that connects again and again can have any number of requests reset',
      },
      {
        text: 'if (reset < trifle.resets && frames < trifle.controlFrames) return null',
        becomes: '',
        breaks: 'pages that are closed while they load add up to an offence',
        tests: ['edge/client/http2-spending', 'wire/http2-leaving'],
      },
      {
        text: 'if (this.#byAddress.size > most)',
        becomes: 'if (false)',
        breaks: 'clients of many addresses fill the memory',
      },
    ],
  },
  {
    file: 'edge/client/http2-connection.ts',
    tests: ['wire/http2-leaving'],
    changes: [
      {
        text: 'if (this.#hasFailed || snapshot.trusted.has(this.peer)) return',
        becomes: 'if (this.#hasFailed) return',
        breaks: 'clients behind a trusted hop pay for each other',
      },
      {
        text: 'if (isBroken) this.session.leave(this.#plane.coarseNow)',
        becomes: '',
        breaks: 'a client that resets its connections leaves any number of requests behind',
      },
    ],
  },
]
