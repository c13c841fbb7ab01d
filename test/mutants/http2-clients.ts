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
]
