// RFC 9112 and RFC 9110: what origins may send over HTTP/1.1, and what clients must get of it.

import { answering, badGateway, looks, must, section, type Trial } from '../expect.ts'

const ask = (path: string) => `GET ${path}main HTTP/1.1\r\nHost: site.test\r\n\r\n`
const askTwice = (path: string) =>
  `${ask(path)}GET ${path}next HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n`

const bad = (title: string, bytes: string, ends = true) =>
  answering(bytes, must(title, badGateway(), ask), ends)

/** The client gets this body, whole, and the next response is that of the next request. */
const gets = (body: string, status = 200) =>
  looks(`${status} and the next response`, 2, ({ client }: Trial) => {
    const [first, second] = client.responses().filter(one => one.status >= 200)
    if (first?.status !== status || first.body !== body || !first.isWhole)
      return `the client got ${first?.status} ${first?.body}`
    return second?.status === 200 && second.body === 'hello' ? null : `then ${second?.status} ${second?.body}`
  })

const good = (title: string, bytes: string, body: string, ends = false, status = 200) =>
  answering(bytes, must(title, gets(body, status), askTwice), ends)

/** Refused, or with what is ambiguous taken out. */
const cleaned = (title: string, bytes: string, stray: RegExp) =>
  answering(
    bytes,
    must(
      title,
      looks('502, or without it', 1, ({ client }) => (stray.test(client.received) ? 'passed on' : null)),
      ask,
    ),
    true,
  )

const ok = 'HTTP/1.1 200 OK\r\n'
const hello = 'Content-Length: 5\r\n\r\nhello'

export const responseCases = [
  ...section(
    'RFC 9112 4',
    bad('bytes that are no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'),
    bad('HTTP/2.0', `HTTP/2.0 200 OK\r\n${hello}`),
    bad('a status of two digits', `HTTP/1.1 20 OK\r\n${hello}`),
    bad('a status of four digits', `HTTP/1.1 2000 OK\r\n${hello}`),
    bad('a status that is no number', `HTTP/1.1 2xx OK\r\n${hello}`),
    bad('a status of 99', `HTTP/1.1 099 OK\r\n${hello}`),
    bad('no response', ''),
    bad('a head that ends amid a field', `${ok}X-A: 1`),
    good('HTTP/1.2', `HTTP/1.2 200 OK\r\n${hello}`, 'hello'),
    good(
      'HTTP/1.9 in chunks',
      'HTTP/1.9 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
      'hello',
    ),
    good('no reason', `HTTP/1.1 200 \r\n${hello}`, 'hello'),
    good('a reason with bytes above 127', `HTTP/1.1 200 caf\xe9\r\n${hello}`, 'hello'),
    good('HTTP/1.0', `HTTP/1.0 200 OK\r\n${hello}`, 'hello', true),
  ),
  ...section(
    'RFC 9112 5',
    cleaned('a space before the colon', `${ok}X-A : 1\r\n${hello}`, /x-a :/i),
    cleaned('a folded field', `${ok}X-A: 1\r\n\tSet-Cookie: a=b\r\n${hello}`, /\n\tSet-Cookie/),
    cleaned('a bare CR in a value', `${ok}X-A: 1\rSet-Cookie: a=b\r\n${hello}`, /\rSet-Cookie/),
    cleaned('NUL in a value', `${ok}X-A: a\0b\r\n${hello}`, /\0/),
    bad('a line without a colon', `${ok}nothing\r\n${hello}`),
    bad('a name with a space', `${ok}X A: 1\r\n${hello}`),
  ),
  ...section(
    'RFC 9112 6.3',
    bad('two different lengths', `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`),
    bad('a list of different lengths', `${ok}Content-Length: 5, 6\r\n\r\nhello!`),
    bad('a length that is no number', `${ok}Content-Length: 5x\r\n\r\nhello`),
    bad('a negative length', `${ok}Content-Length: -5\r\n\r\nhello`),
    bad('a length of 2^64 + 5', `${ok}Content-Length: 18446744073709551621\r\n\r\nhello`),
    bad('a body shorter than its length', `${ok}Content-Length: 50\r\n\r\nhello`),
    cleaned(
      'a length and chunks',
      `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      /content-length: 5\r\n[\s\S]*transfer-encoding|transfer-encoding[\s\S]*content-length: 5\r\n/i,
    ),
    good('a body up to the end of the connection', `${ok}\r\nhello`, 'hello', true),
    good('a length of 0', `${ok}Content-Length: 0\r\n\r\n`, ''),
    good('204', 'HTTP/1.1 204 No Content\r\n\r\n', '', false, 204),
    good('304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n', '', false, 304),
    good(
      'bytes behind a response',
      `${ok}${hello}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen`,
      'hello',
    ),
    answering(
      'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen',
      must(
        'bytes behind 204',
        looks('two responses without them', 2, ({ client }) =>
          client.responses().length === 2 && !client.received.includes('stolen')
            ? null
            : client.received.slice(0, 99),
        ),
        askTwice,
      ),
    ),
  ),
  ...section(
    'RFC 9112 7.1',
    good(
      'chunks',
      `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-Late: 1\r\n\r\n`,
      'hello',
    ),
    bad('a chunk size that is no number', `${ok}Transfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n`),
    bad('a chunk longer than its size', `${ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n`),
    bad(
      'a chunk size of 2^64 + 5',
      `${ok}Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n`,
    ),
    bad('no last chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`),
    bad('a last chunk without its end', `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`),
    bad('chunked twice', `${ok}Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
  ),
  ...section(
    'RFC 9110 15.2',
    good('an interim response', `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${ok}${hello}`, 'hello'),
    good(
      'several interim responses',
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${ok}${hello}`,
      'hello',
    ),
    bad('an interim response and no other', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    bad(
      '101 that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      false,
    ),
  ),
  ...section(
    'RFC 9110 7.6.1',
    answering(
      `${ok}Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\n${hello}`,
      must(
        'fields of the connection are not passed on',
        looks('none of them', 1, ({ client }) => /x-hop: 1|timeout=9/i.exec(client.received)?.[0] ?? null),
        ask,
      ),
    ),
  ),
]
