// Mutations of the compression of responses.

import type { Mutated } from './mutation.ts'

export const compression: readonly Mutated[] = [
  {
    file: 'edge/encoding/accept-encoding.ts',
    tests: ['edge/compression/accept-encoding'],
    changes: [
      {
        text: 'best === undefined || best === identity',
        becomes: 'best === undefined',
        breaks: 'a client that wants plain content gets an encoding of that name',
      },
      {
        text: ' || !wellFormed.test(line)',
        becomes: '',
        breaks: 'a line that nobody understands gets some encoding',
      },
      {
        text: ".replaceAll(oldGzip, 'gzip')",
        becomes: '',
        breaks: 'x-gzip is not understood',
      },
      {
        text: ', { preferred: this.#codings }',
        becomes: ', { preferred: [] }',
        breaks: 'the order of the operator does not count',
      },
    ],
  },
  {
    file: 'edge/encoding/compression.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: "head.version === '1.0' ? null : acceptEncodingOf(head)",
        becomes: 'acceptEncodingOf(head)',
        breaks: 'a client of HTTP/1.0 takes half a body for a whole one',
      },
    ],
  },
  {
    file: 'edge/encoding/media-types.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'if (`${type}/${subtype}` === eventStream) return false',
        becomes: '',
        breaks: 'event streams are compressed for nobody who asked',
      },
      {
        text: ' || neverEncoded.test(`${type}/${subtype}`)',
        becomes: '',
        breaks: 'the messages of gRPC are compressed where all of application is',
      },
    ],
  },
  {
    file: 'edge/encoding/compressible.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'if (id === field.contentEncoding) return false',
        becomes: '',
        breaks: 'what is compressed is compressed again',
      },
      {
        text: 'if (status < 200 || partial.has(status)) return false',
        becomes: '',
        breaks: 'a part of a file is compressed, and its ranges no longer add up',
      },
      {
        text: "if (equalsIgnoreCase(name, 'content-range')) return true",
        becomes: '',
        breaks: 'the same for what only its fields call a part',
      },
      {
        text: "return equalsIgnoreCase(name, 'cache-control') && listHas(value, 'no-transform')",
        becomes: 'return false',
        breaks: 'what an origin forbids is changed',
      },
      {
        text: 'contentLength !== -1 && contentLength < minimum',
        becomes: 'false',
        breaks: 'what is too small to gain is compressed',
      },
      {
        text: 'return isDigest(name)\n',
        becomes: 'return false\n',
        breaks: 'a digest no longer fits what it is of',
      },
      {
        text: "return equalsIgnoreCase(name, 'trailer') && announcesDigest(value)",
        becomes: 'return false',
        breaks: 'a digest that was announced is missing',
      },
      {
        text: "return equalsIgnoreCase(name, 'signature')",
        becomes: 'return false',
        breaks: 'a signature no longer fits what it is of',
      },
      {
        text: 'if (type !== null) return false',
        becomes: '',
        breaks: 'of two types, the second one decides',
      },
    ],
  },
  {
    file: 'edge/encoding/compressed-fields.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: "return tag[0] === '\"' ? `W/${tag}` : null",
        becomes: 'return tag',
        breaks: 'two representations that differ have one strong validator',
      },
      {
        text: "return equalsIgnoreCase(name, 'accept-ranges') ? null : value",
        becomes: 'return value',
        breaks: 'clients ask for ranges of what they do not have',
      },
      {
        text: ' || !known.includes(`W/${value}`)',
        becomes: '',
        breaks: 'a cache takes what it has byte by byte for something less',
      },
      {
        text: 'new Set([...hopByHop].filter(name => !written.has(name)))',
        becomes: 'hopByHop',
        breaks:
          'an origin that names fields in Connection has its content sent compressed without a word of that',
      },
      {
        text: 'trailers.filter((_, i) => !isDigest(trailers[i - (i % 2)]!))',
        becomes: '[...trailers]',
        breaks: 'a digest in trailers is of something else than the body',
      },
    ],
  },
  {
    file: 'edge/compression/decide.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'forbidsTransform(x.head) ? null : ',
        becomes: '',
        breaks: 'what a client forbids is changed',
      },
      {
        text: 'return { message: varying(message), encoding: null, keepsLength: true }',
        becomes: 'return { message, encoding: null, keepsLength: true }',
        breaks: 'a cache keeps the plain response for everybody',
      },
      {
        text: 'if (memory.value + codings[coding].memory <= snapshot.limits.compressionMemory) return true',
        becomes: 'return true',
        breaks: 'slow clients fill the memory with encoders',
      },
      {
        text: 'encoding, keepsLength: false }',
        becomes: 'encoding, keepsLength: true }',
        breaks: 'HEAD announces a length that no response has',
      },
      {
        text: 'keepsLength: revalidated === message',
        becomes: 'keepsLength: true',
        breaks: 'a 304 announces the length of another representation',
      },
    ],
  },
  {
    file: 'edge/compression/compressed-body.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'this.#isFull = this.#waitingBytes > mostWaiting\n',
        becomes: '',
        breaks: 'a response is kept in memory that the client does not read',
      },
      {
        text: 'if (!mayGoOn || !mayStillGoOn) this.#encoder!.pause()',
        becomes: '',
        breaks: 'a compressed response is kept in memory that the client does not read',
      },
      {
        text: 'if (this.#waitingBytes > 0 || this.#holdsBack) this.#awaitPause()',
        becomes: '',
        breaks: 'what drips stays in the encoder',
      },
      {
        text: 'if (this.#isDueNow) this.#release()\n',
        becomes: '',
        breaks: 'a piece that was under way as the origin paused stays in the encoder',
      },
      {
        text: 'else if (now - this.#heldSince > longestHeld - pauseAfter) return\n',
        becomes: '',
        breaks: 'what drips without a pause stays in the encoder',
      },
      {
        text: 'this.#encoder?.destroy()',
        becomes: '',
        breaks: 'the encoder of a client that left works on',
      },
      {
        text: 'memory.value -= codings[this.coding].memory',
        becomes: '',
        breaks: 'after some responses, none is compressed any more',
      },
      {
        text: 'this.#isFull = false\n    this.#source.goOn()',
        becomes: 'this.#isFull = false',
        breaks: 'an origin that was faster than the encoder waits forever',
      },
      {
        text: 'this.#x.upstream = this.#finishing\n',
        becomes: '',
        breaks: 'a client that leaves behind the end of the origin keeps its encoder',
      },
    ],
  },
  {
    file: 'edge/encoding/encoders.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'isPrompt ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH',
        becomes: 'constants.Z_NO_FLUSH',
        breaks: 'events stay in the encoder',
      },
    ],
  },
  {
    file: 'edge/compression/finishing.ts',
    tests: ['wire/compression'],
    changes: [
      {
        text: 'this.#x.client.abandon(this.#x)',
        becomes: '',
        breaks: 'a client that reads no more keeps its response for good',
      },
      {
        text: 'this.stay()\n    this.#body.goOn()',
        becomes: 'this.stay()',
        breaks: 'a client that reads late never gets the end',
      },
    ],
  },
]
