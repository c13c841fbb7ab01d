// Mutations of the bytes on the wire.

import type { Mutated } from './mutation.ts'

export const http1: readonly Mutated[] = [
  {
    file: 'http1/heads/repeated-head.ts',
    tests: ['http1/heads/repeated-head'],
    changes: [
      {
        text: 'bytes.compare(this.#lines, 0, this.#digits, linesAt, digits) !== 0',
        becomes: 'false',
        breaks: 'a request has the field lines of the one before, and its token',
      },
      {
        text: 'bytes.compare(this.#lines, this.#digitsEnd, this.#size, digitsEnd, end) !== 0',
        becomes: 'false',
        breaks: 'a request has the last field lines of the one before',
      },
      {
        text: 'if (!head.takeLength(value, this.#length)) return null',
        becomes: 'head.takeLength(value, this.#length)',
        breaks: 'a length beyond what can be counted is taken',
      },
      {
        text: ' || last.ids.length > limits.headers',
        becomes: '',
        breaks: 'a limit that was lowered does not hold for heads that repeat',
      },
      {
        text: '|| head.ids.includes(field.upgrade)',
        becomes: '',
        breaks: 'an upgrade that HTTP/1.0 may not ask for is lost for the next request, too',
      },
      {
        text: 'if (bytes[start + head.method.length + 1] !== slash) return',
        becomes: '',
        breaks: 'the host of an absolute target is taken for that of the next request',
      },
    ],
  },
  {
    file: 'http1/heads/request-head.ts',
    tests: ['http1/heads/request-head'],
    changes: [
      {
        text: 'if (this.host !== null) return false',
        becomes: '',
        breaks: 'two Host fields are two zones to two readers',
      },
      {
        text: 'if (this.contentLength !== -1) return false',
        becomes: '',
        breaks: 'two lengths are two requests to two readers',
      },
      {
        text: "if (head.chunked && (head.contentLength !== -1 || head.minor === 0)) return 'bad_request'",
        becomes: '',
        breaks: 'a request that is framed twice smuggles another',
      },
      {
        text: "if (head.host === null && head.minor === 1) return 'bad_request'",
        becomes: '',
        breaks: 'a request without a Host is served',
      },
      {
        text: 'if (this.ids.push(id) > this.#most) {',
        becomes: 'this.ids.push(id)\n    if (false) {',
        breaks: 'thousands of fields cost a worker its time',
      },
      {
        text: "if (end - start > limits.headerSection) return 'http_headers_exceed_limit'",
        becomes: '',
        breaks: 'a head that comes at once has no limit',
      },
      {
        text: "if (head.target.length > limits.url) return 'uri_too_long'",
        becomes: '',
        breaks: 'a target that comes at once has no limit',
      },
      {
        text: 'if (!upgrade || head.minor === 0) head.upgrade = null',
        becomes: '',
        breaks: 'an upgrade that Connection does not announce counts',
      },
      {
        text: "if (equalsIgnoreCase(value, 'chunked')) return (this.chunked = true)",
        becomes: "if (value.toLowerCase().endsWith('chunked')) return (this.chunked = true)",
        breaks: 'a coding that nobody undid is passed on as undone',
      },
    ],
  },
  {
    file: 'http1/heads/request-line.ts',
    tests: ['http1/heads/request-line', 'http1/heads/request-head'],
    changes: [
      {
        text: "if (head.host !== null && head.host.toLowerCase() !== authority.toLowerCase()) return 'bad_request'",
        becomes: '',
        breaks: 'an absolute target names another host than Host',
      },
      {
        text: 'head.host = authority',
        becomes: '',
        breaks: 'an absolute target goes by the zone of the Host field alone',
      },
      {
        text: "if (target === '*') return method === 'OPTIONS' ? null : 'bad_request'",
        becomes: "if (target === '*') return null",
        breaks: 'GET * reaches origins',
      },
      {
        text: 'at - start > longestMethod',
        becomes: 'false',
        breaks: 'a method of any length is read',
      },
    ],
  },
  {
    file: 'http1/fields/fields.ts',
    tests: ['http1/fields/fields'],
    changes: [
      {
        text: 'if (!passes(id, first) || id >= end || hopByHop?.has(name.toLowerCase())) continue',
        becomes: 'if (!passes(id, first)) continue',
        breaks: 'a field that Connection names reaches the next hop',
      },
      {
        text: 'if (likeness !== different)',
        becomes: 'if (likeness === same)',
        breaks: 'Content_Length reaches an origin that reads it as the length',
      },
      {
        text: 'const firstPassed = { request: field.accept, response: field.twin } as const',
        becomes: 'const firstPassed = { request: field.forwarded, response: field.twin } as const',
        breaks: 'what a stranger says of its address reaches origins',
      },
      {
        text: 'proxy: field.proxy,',
        becomes: '',
        breaks: 'a client sets HTTP_PROXY of a program behind',
      },
      {
        text: 'return /[^A-Za-z0-9-]/.test(name) ? field.twin : id',
        becomes: 'return id',
        breaks: 'X-Forwarded_Anything of the client of a trusted proxy reaches origins',
      },
      {
        text: 'return ofFamily(name)',
        becomes: 'return field.other',
        breaks: 'X-Forwarded-Anything and X-SSL-Client-Anything of a stranger reach origins',
      },
      {
        text: 'if (hasAnySpelling(id)) return id',
        becomes: '',
        breaks: 'SSL_CLIENT_CERT of a trusted proxy, or of a rewrite, is lost',
      },
      {
        text: 'id < field.cookie || atHome ?',
        becomes: 'true ?',
        breaks: 'an origin gets the sessions of people',
      },
      {
        text: 'return id === field.setCookie && setsOwnCookie(value) ? null : value',
        becomes: 'return value',
        breaks: 'an origin plants a session',
      },
      {
        text: 'id === field.ray || id === field.hop || id === field.twin',
        becomes: 'id === field.ray || id === field.twin',
        breaks: 'a field that shows a hop is taken for that of a client',
      },
    ],
  },
  {
    file: 'http1/fields/claimed-names.ts',
    tests: ['wire/forwarding-headers'],
    changes: [
      {
        text: "path: ['x-original-url', ",
        becomes: 'path: [',
        breaks: 'an origin serves another path than the rules have seen',
      },
      {
        text: "    'x-ssl*',\n",
        becomes: '',
        breaks: 'a stranger has any certificate',
      },
    ],
  },
  {
    file: 'http1/fields/own-cookies.ts',
    tests: ['http1/fields/own-cookies'],
    changes: [
      {
        text: '[name, `__Host-${name}`, `__Secure-${name}`]',
        becomes: '[name]',
        breaks: 'an origin gets the sessions of people over https',
      },
      {
        text: 'if (code === semicolon || code === comma) return at',
        becomes: 'if (code === semicolon) return at',
        breaks: 'a session in a joined field reaches origins',
      },
      {
        text: 'isAround(pair.charCodeAt(from)) || pair.charCodeAt(from) === equals',
        becomes: 'isAround(pair.charCodeAt(from))',
        breaks: 'an origin plants a session by a cookie without a name',
      },
      {
        text: '!isMember && (',
        becomes: '(',
        breaks: 'a list in a cookie of others loses a member',
      },
      {
        text: 'if (!hasOwn) return value',
        becomes: '',
        breaks: 'cookies of others are changed',
      },
    ],
  },
  {
    file: 'http1/body/body.ts',
    tests: ['http1/body/body'],
    changes: [
      {
        text: '++this.#extensions <= extensionsLimit',
        becomes: '++this.#extensions < extensionsLimit',
        breaks: 'the limit of chunk extensions is not what it says',
      },
      {
        text: 'return ++this.#digits <= largestChunkDigits',
        becomes: 'return true',
        breaks: 'the size of a chunk overflows, and smuggles a request',
      },
      {
        text: 'return this.#digits > 0 && (byte === cr || byte === semicolon)',
        becomes: 'return byte === cr || byte === semicolon',
        breaks: 'a chunk without a size is one to two readers',
      },
      {
        text: 'this.#state = chunk.dataLf\n        return byte === cr',
        becomes: 'this.#state = chunk.dataLf\n        return true',
        breaks: 'two bytes of any kind end a chunk',
      },
      {
        text: 'else if (!this.done) this.faulty = true',
        becomes: '',
        breaks: 'a truncated body looks whole',
      },
      {
        text: 'this.#digits = 0\n        return byte === lf',
        becomes: 'this.#digits = 0\n        return true',
        breaks: 'a chunk size ends with a bare cr',
      },
      {
        text: "if (this.framing === 'length') this.done = this.#remaining === 0",
        becomes: "if (this.framing === 'length') this.done = true",
        breaks: 'a body is cut at its first packet',
      },
    ],
  },
  {
    file: 'http1/body/trailers.ts',
    tests: ['http1/body/trailers'],
    changes: [
      {
        text: 'return id !== field.contentLength && id !== field.transferEncoding',
        becomes: 'return true',
        breaks: 'a trailer frames the message anew',
      },
      {
        text: "if (crosses(id, 'request') && this.#mayComeLate(name.toLowerCase()))",
        becomes: "if (crosses(id, 'request'))",
        breaks: 'a trailer gives a request a cookie that no rule has seen',
      },
      {
        text: 'section.length > limit || !mayContinue(section, 0)',
        becomes: '!mayContinue(section, 0)',
        breaks: 'a trailer section without end fills the memory',
      },
      {
        text: "!spentBeforeBody.has(name.replaceAll('_', '-'))",
        becomes: '!spentBeforeBody.has(name)',
        breaks: 'a trailer with an underscore is a cookie to some origins',
      },
    ],
  },
  {
    file: 'http1/fields/field-lines.ts',
    tests: ['http1/fields/field-lines'],
    changes: [
      {
        text: 'if (bytes[at] !== colon || at === nameStart) return false',
        becomes: 'if (at === nameStart) return false',
        breaks: 'a space before a colon hides a field from one reader',
      },
      {
        text: 'if (bytes[at] !== cr || bytes[at + 1] !== lf) return false\n    let valueEnd',
        becomes: 'if (bytes[at] !== cr) return false\n    let valueEnd',
        breaks: 'a bare cr ends a field for one reader',
      },
      {
        text: 'return Number.isSafeInteger(length) ? length : -1',
        becomes: 'return length',
        breaks: 'a length is rounded, and the next request begins elsewhere',
      },
      {
        text: 'if (digit < 0 || digit > 9) return -1',
        becomes: '',
        breaks: 'a length with a sign is read in two ways',
      },
    ],
  },
  {
    file: 'http1/heads/response-head.ts',
    tests: ['http1/heads/response-head'],
    changes: [
      {
        text: "this.authenticatesConnection ||= !equalsIgnoreCase(value, 'false')",
        becomes: '',
        breaks: 'a client is served as the one for which the origin said Persistent-Auth',
        tests: ['wire/connection-authentication'],
      },
      {
        text: "if (head.chunked && (head.contentLength !== -1 || text.charCodeAt(7) === 0x30)) return 'framing'",
        becomes: '',
        breaks: 'an answer that is framed twice is read in two ways',
      },
      {
        text: '(this.contentLength !== -1 && this.contentLength !== length)',
        becomes: 'false',
        breaks: 'an answer with two lengths is read in two ways',
      },
      {
        text: "if (this.chunked || !equalsIgnoreCase(value, 'chunked')) this.fault = 'framing'",
        becomes: '',
        breaks: 'a coding that nobody asked for passes as the body',
      },
      {
        text: "return head.chunked || head.contentLength > 0 ? 'framing' : new BodyReader('none', 0)",
        becomes: "return new BodyReader('none', 0)",
        breaks: 'the body of a 204 is read as the next answer',
      },
      {
        text: "if (text.startsWith('HTTP/1.0 ')) head.keepAlive = false",
        becomes: "if (text.startsWith('HTTP/1.0 ')) head.keepAlive = true",
        breaks: 'connections of HTTP/1.0 origins are used again',
      },
    ],
  },
  {
    file: 'http1/fields/host.ts',
    tests: ['http1/fields/host'],
    changes: [
      {
        text: 'return name.toLowerCase()',
        becomes: 'return name',
        breaks: 'a Host in capitals finds no zone',
      },
      {
        text: 'if (end > 1 && value.charCodeAt(end - 1) === 0x2e) end--',
        becomes: '',
        breaks: 'a Host with a dot at its end finds no zone',
      },
      {
        text: 'if (colon !== -1 && !isPort(value, colon + 1)) return null',
        becomes: '',
        breaks: 'a Host with anything behind a colon is taken',
      },
    ],
  },
  {
    file: 'http1/fields/connection-options.ts',
    tests: ['http1/fields/connection-options'],
    changes: [
      {
        text: 'if (value.length > longest) return null',
        becomes: '',
        breaks: 'a Connection of thousands of names costs a worker its time',
      },
      {
        text: '.map(option => option.trim()),',
        becomes: ',',
        breaks: 'a blank hides an option of Connection',
      },
    ],
  },
  {
    file: 'http1/fields/forwarded.ts',
    tests: ['http1/fields/forwarded', 'wire/forwarding-headers'],
    changes: [
      {
        text: 'if (element !== null && elements.push(element) > mostElements) return null',
        becomes: 'if (element !== null) elements.push(element)',
        breaks: 'a Forwarded of thousands of hops is read',
      },
      {
        text: 'if (list.length > longest) return null',
        becomes: '',
        breaks: 'a Forwarded of any length is read',
      },
    ],
  },
]
