// RFC 9112 and RFC 9110: what requests may look like, and what two readers could understand differently.

import type { RawClient } from '../client.ts'
import { looks, must, refused, sameOrRefused, section, served, servedAnd, should } from '../expect.ts'

const host = 'Host: site.test\r\n'

/** A request, with fields in front of the empty line. */
const get = (path: string, fields = '', target = `${path}main`) =>
  `GET ${target} HTTP/1.1\r\n${host}${fields}\r\n`
const behind = (path: string) => `GET ${path}behind HTTP/1.1\r\n${host}Connection: close\r\n\r\n`
const post = (path: string, fields: string, body: string) =>
  `POST ${path}main HTTP/1.1\r\n${host}${fields}\r\n${body}`
const hidden = (path: string) => `GET ${path}hidden HTTP/1.1\r\n${host}\r\n`

/** A head with these fields, and a request behind it. */
const withFields = (fields: string) => (path: string) => get(path, fields) + behind(path)
/** A request line in place of the usual one, and a request behind it. */
const withLine =
  (line: (path: string) => string, fields = host) =>
  (path: string) =>
    `${line(path)}\r\n${fields}\r\n${behind(path)}`
/** A body framed by these fields, and a request behind it. */
const framed = (fields: string, body: string) => (path: string) => post(path, fields, body) + behind(path)
/** A chunked body, and a request behind it. */
const chunked = (body: string) => framed('Transfer-Encoding: chunked\r\n', body)
const hello = '5\r\nhello\r\n0\r\n\r\n'
const both = served(['main', 'hello'], ['behind', ''])

const hasField = (name: string, value: string) =>
  servedAnd(
    ([main]) => {
      const values = main!.all(name)
      return values.join(', ') === value ? null : `the origin got ${name}: ${values.join(', ')}`
    },
    ['main', ''],
  )

const noField = (...names: readonly string[]) =>
  servedAnd(([main]) => names.find(name => main!.all(name).length > 0) ?? null, ['main', ''])

/** The client ends the connection: the origin must not take the request for whole. */
const cutShort = looks('no whole request at the origin', 0, async ({ client, origin, number }) => {
  client.finish()
  await client.until(() => client.isClosed)
  return origin.of(number).length === 0 ? null : 'it is whole'
})

const field = (client: RawClient, name: string) =>
  client
    .responses()
    .at(-1)
    ?.lines.filter(line => line.startsWith(`${name}:`)) ?? []

export const requestCases = [
  ...section(
    'RFC 9112 2.2',
    must('a request as it should be', served(['main', ''], ['behind', '']), withFields('')),
    should(
      'an empty line before a request',
      served(['main', ''], ['behind', '']),
      path => `\r\n${get(path)}${behind(path)}`,
    ),
    must(
      'white space before the first field',
      refused(),
      path => `GET ${path}main HTTP/1.1\r\n ${host}\r\n${behind(path)}`,
    ),
    must(
      'a field that looks folded after the request line',
      refused(),
      path => `GET ${path}main HTTP/1.1\r\n X: 1\r\n${host}\r\n${behind(path)}`,
    ),
    must(
      'a bare CR in a field',
      sameOrRefused(['main', ''], ['behind', '']),
      withFields('X-A: 1\rX-B: 2\r\n'),
    ),
    must(
      'a bare CR before a hidden field',
      sameOrRefused(['main', ''], ['behind', '']),
      withFields('X-A: 1\rTransfer-Encoding: chunked\r\n'),
    ),
    must(
      'bare LFs',
      sameOrRefused(['main', ''], ['behind', '']),
      path => `GET ${path}main HTTP/1.1\nHost: site.test\n\n${behind(path)}`,
    ),
    must(
      'a bare LF before a length',
      sameOrRefused(['main', ''], ['main', 'hello'], ['behind', '']),
      framed('X-A: 1\nContent-Length: 5\r\n', 'hello'),
    ),
    must(
      'NUL in the request line',
      refused(),
      withLine(path => `GET ${path}ma\0in HTTP/1.1`),
    ),
    must('bytes that are no HTTP', refused(), () => '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n'),
  ),
  ...section(
    'RFC 9112 2.3',
    should(
      'HTTP/1.2 is read as HTTP/1.1',
      served(['main', ''], ['behind', '']),
      withLine(path => `GET ${path}main HTTP/1.2`),
    ),
    should(
      'HTTP/1.9 with a body in chunks, and a request behind it',
      served(['main', 'hello'], ['behind', '']),
      path => `POST ${path}main HTTP/1.9\r\n${host}Transfer-Encoding: chunked\r\n\r\n${hello}${behind(path)}`,
    ),
    must(
      'HTTP/1.2 without Host',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.2`, ''),
    ),
    should(
      'HTTP/2.0',
      refused(505),
      withLine(path => `GET ${path}main HTTP/2.0`),
    ),
    should(
      'HTTP/3.7',
      refused(505),
      withLine(path => `GET ${path}main HTTP/3.7`),
    ),
    must(
      'a version in lower case',
      refused(),
      withLine(path => `GET ${path}main http/1.1`),
    ),
    must(
      'a version of two digits',
      refused(),
      withLine(path => `GET ${path}main HTTP/1.10`),
    ),
    must(
      'a version with a space',
      refused(),
      withLine(path => `GET ${path}main HTTP/ 1.1`),
    ),
    must(
      'another protocol',
      refused(),
      withLine(path => `GET ${path}main ICE/1.1`),
    ),
  ),
  ...section(
    'RFC 9112 3',
    should(
      'no version',
      refused(),
      withLine(path => `GET ${path}main`),
    ),
    should(
      'no target',
      refused(),
      withLine(() => 'GET  HTTP/1.1'),
    ),
    should(
      'a space in the target',
      refused(),
      withLine(path => `GET ${path}a main HTTP/1.1`),
    ),
    should(
      'a tab in the target',
      refused(),
      withLine(path => `GET ${path}a\tmain HTTP/1.1`),
    ),
    should(
      'a space before the method',
      refused(),
      withLine(path => ` GET ${path}main HTTP/1.1`),
    ),
    must(
      'a method that is no token',
      refused(),
      withLine(path => `GE(T ${path}main HTTP/1.1`),
    ),
    must(
      'a method with a colon',
      refused(),
      withLine(path => `GET: ${path}main HTTP/1.1`),
    ),
    must(
      'a target that is too long',
      refused(414, 431, 400),
      withLine(path => `GET ${path}main?${'x'.repeat(100_000)} HTTP/1.1`),
    ),
    must(
      'any method',
      served(['main', ''], ['behind', '']),
      withLine(path => `REPORT ${path}main HTTP/1.1`),
    ),
  ),
  ...section(
    'RFC 9112 3.2',
    must(
      'no Host',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.1`, 'X-A: 1\r\n'),
    ),
    must('two Hosts', refused(400), withFields('Host: other.test\r\n')),
    must('the same Host twice', refused(400), withFields(host)),
    must(
      'a Host with a path',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.1`, 'Host: site.test/x\r\n'),
    ),
    must(
      'a Host with a name and a password',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.1`, 'Host: a:b@site.test\r\n'),
    ),
    must(
      'a Host with a space',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.1`, 'Host: site.test other.test\r\n'),
    ),
    must(
      'a Host with a port that is no number',
      refused(400),
      withLine(path => `GET ${path}main HTTP/1.1`, 'Host: site.test:80x\r\n'),
    ),
    must(
      'HTTP/1.0 without Host is no fault of framing',
      sameOrRefused(['main', '']),
      path => `GET ${path}main HTTP/1.0\r\n\r\n`,
    ),
  ),
  ...section(
    'RFC 9112 3.2.1',
    must('a path and a query as they are', served(['main?a=%2F&b=//c', '']), path =>
      get(path, 'Connection: close\r\n', `${path}main?a=%2F&b=//c`),
    ),
    must(
      'a target that is no path',
      refused(),
      withLine(() => 'GET index.html HTTP/1.1'),
    ),
    must(
      'a fragment',
      sameOrRefused(['main', ''], ['behind', '']),
      withLine(path => `GET ${path}main#x HTTP/1.1`),
    ),
  ),
  ...section(
    'RFC 9112 3.2.2',
    must(
      'a whole URL',
      served(['main', ''], ['behind', '']),
      withLine(path => `GET http://site.test${path}main HTTP/1.1`),
    ),
    must(
      'a whole URL of another host than Host',
      looks('refused, or that host at the origin', 1, ({ origin, number }) => {
        const [main] = origin.of(number)
        return main === undefined || main.field('host') === 'other.test'
          ? null
          : `Host: ${main.field('host')}`
      }),
      withLine(path => `GET http://other.test${path}main HTTP/1.1`),
    ),
    must(
      'a whole URL with a name and a password',
      sameOrRefused(['main', ''], ['behind', '']),
      withLine(path => `GET http://a:b@site.test${path}main HTTP/1.1`),
    ),
  ),
  ...section(
    'RFC 9112 3.2.3',
    should('CONNECT opens no tunnel', refused(), () => `CONNECT site.test:443 HTTP/1.1\r\n${host}\r\n`),
    must(
      'an authority for GET',
      refused(),
      withLine(() => 'GET site.test:80 HTTP/1.1'),
    ),
  ),
  ...section(
    'RFC 9112 3.2.4',
    must(
      'OPTIONS *',
      looks('a response', 1, ({ client }) => {
        const status = client.responses()[0]?.status ?? 0
        return status >= 200 && status < 500 ? null : `status ${status}`
      }),
      () => `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    ),
    must(
      '* for GET',
      refused(),
      withLine(() => 'GET * HTTP/1.1'),
    ),
  ),
  ...section(
    'RFC 9112 5',
    must('a space before the colon', refused(400), withFields('X-A : 1\r\n')),
    must('a tab before the colon', refused(400), withFields('X-A\t: 1\r\n')),
    must(
      'a space before the colon of Content-Length',
      refused(400),
      framed('Content-Length : 5\r\n', 'hello'),
    ),
    must(
      'a space before the colon of Transfer-Encoding',
      refused(400),
      framed('Transfer-Encoding : chunked\r\n', hello),
    ),
    must('a line without a colon', refused(), withFields('X-A\r\n')),
    must('a name without characters', refused(), withFields(': 1\r\n')),
    must('a space in a name', refused(), withFields('X A: 1\r\n')),
    must('NUL in a name', refused(), withFields('X\0A: 1\r\n')),
    must(
      'a byte above 127 in a name',
      sameOrRefused(['main', ''], ['behind', '']),
      withFields('X-\xe9: 1\r\n'),
    ),
    must('a parenthesis in a name', refused(), withFields('X(A: 1\r\n')),
    must('NUL in a value', refused(), withFields('X-A: a\0b\r\n')),
    must('spaces around a value are no part of it', hasField('x-a', 'a b'), path =>
      get(path, 'X-A: \t a b \t \r\nConnection: close\r\n'),
    ),
    must('a value without characters', hasField('x-a', ''), path =>
      get(path, 'X-A:\r\nConnection: close\r\n'),
    ),
    should('bytes above 127 in a value', hasField('x-a', 'caf\xe9'), path =>
      get(path, 'X-A: caf\xe9\r\nConnection: close\r\n'),
    ),
    must('names in any case', both, framed('cOnTeNt-LeNgTh: 5\r\n', 'hello')),
    must(
      'too many fields',
      looks('refused, or served as one request', 1, ({ origin, number }) =>
        origin.of(number).length <= 1 ? null : 'more',
      ),
      path => get(path, `${'X: 1\r\n'.repeat(5_000)}Connection: close\r\n`),
    ),
  ),
  ...section(
    'RFC 9112 5.2',
    must('a folded field', sameOrRefused(['main', ''], ['behind', '']), withFields('X-A: 1\r\n 2\r\n')),
    must(
      'a folded length',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Content-Length:\r\n 5\r\n', 'hello'),
    ),
    must(
      'a folded coding',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Transfer-Encoding:\r\n chunked\r\n', hello),
    ),
    must('a line of white space', sameOrRefused(['main', ''], ['behind', '']), withFields('X-A: 1\r\n \r\n')),
  ),
  ...section(
    'RFC 9112 6.1',
    must('chunked', both, chunked(hello)),
    must('chunked in any case', both, framed('Transfer-Encoding: CHUNKED\r\n', hello)),
    must('spaces around chunked', both, framed('Transfer-Encoding: \t chunked \r\n', hello)),
    must('chunked twice', refused(), framed('Transfer-Encoding: chunked, chunked\r\n', hello)),
    must(
      'chunked twice, in two lines',
      refused(),
      framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', hello),
    ),
    must('a coding after chunked', refused(), framed('Transfer-Encoding: chunked, gzip\r\n', hello)),
    must('identity after chunked', refused(), framed('Transfer-Encoding: chunked, identity\r\n', hello)),
    must(
      'identity alone',
      sameOrRefused(['main', ''], ['behind', '']),
      framed('Transfer-Encoding: identity\r\n', ''),
    ),
    should('an unknown coding', refused(501, 400), framed('Transfer-Encoding: xchunked\r\n', hello)),
    should(
      'a coding before chunked that is not known',
      refused(501, 400),
      framed('Transfer-Encoding: foo, chunked\r\n', hello),
    ),
    must('a vertical tab before chunked', refused(), framed('Transfer-Encoding: \x0bchunked\r\n', hello)),
    must('chunked in quotes', refused(), framed('Transfer-Encoding: "chunked"\r\n', hello)),
    must(
      'chunked with a parameter',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Transfer-Encoding: chunked;q=1\r\n', hello),
    ),
    must('chunked and NUL', refused(), framed('Transfer-Encoding: chunked\0\r\n', hello)),
    must(
      'an empty coding',
      sameOrRefused(['main', ''], ['behind', '']),
      framed('Transfer-Encoding:\r\n', ''),
    ),
    must(
      'chunked in HTTP/1.0',
      refused(),
      path =>
        post(path, 'Transfer-Encoding: chunked\r\n', hello).replace('HTTP/1.1', 'HTTP/1.0') + behind(path),
    ),
  ),
  ...section(
    'RFC 9112 6.3',
    must(
      'a length and chunked',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', hello),
    ),
    must(
      'chunked and a length',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', hello),
    ),
    must('chunked and a length that hides a request', sameOrRefused(['main', ''], ['hidden', '']), path =>
      post(
        path,
        `Content-Length: ${5 + hidden(path).length}\r\nTransfer-Encoding: chunked\r\n`,
        `0\r\n\r\n${hidden(path)}`,
      ),
    ),
    must('an unknown coding and a length that hides a request', refused(), path =>
      post(path, `Content-Length: ${hidden(path).length}\r\nTransfer-Encoding: xchunked\r\n`, hidden(path)),
    ),
    must(
      'two different lengths',
      refused(400),
      framed('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello!'),
    ),
    must('a list of different lengths', refused(400), framed('Content-Length: 5, 6\r\n', 'hello!')),
    must(
      'the same length twice',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'),
    ),
    must(
      'a list of the same length',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Content-Length: 5, 5\r\n', 'hello'),
    ),
    ...['+5', '-5', '0x5', '5.0', '5 5', '5x', 'five', '"5"', '1e1', '5;', '5_0', '٥'].map(length =>
      must(
        `a length of ${length}`,
        refused(400),
        framed(`Content-Length: ${Buffer.from(length).toString('latin1')}\r\n`, 'hello'),
      ),
    ),
    must('a length without digits', refused(400), framed('Content-Length:\r\n', '')),
    must(
      'a length of 2^64 + 5',
      refused(400, 413),
      framed('Content-Length: 18446744073709551621\r\n', 'hello'),
    ),
    must(
      'a length with zeros in front',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Content-Length: 005\r\n', 'hello'),
    ),
    must('a length', both, framed('Content-Length: 5\r\n', 'hello')),
    must('a length of 0', served(['main', ''], ['behind', '']), framed('Content-Length: 0\r\n', '')),
    must(
      'a request in a body is a body',
      looks('one request', 1, ({ origin, number }) =>
        origin.of(number).some(({ target }) => target.endsWith('hidden')) ? 'the hidden one got there' : null,
      ),
      path => post(path, `Content-Length: ${hidden(path).length}\r\nConnection: close\r\n`, hidden(path)),
    ),
    must(
      'GET with a body',
      both,
      path => `GET ${path}main HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello${behind(path)}`,
    ),
    must('neither length nor coding', served(['main', ''], ['behind', '']), framed('', '')),
  ),
  ...section(
    'RFC 9112 7.1',
    must('several chunks', both, chunked('2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n')),
    must(
      'sizes in both cases',
      served(['main', 'x'.repeat(26)], ['behind', '']),
      chunked(`A\r\n${'x'.repeat(10)}\r\nf\r\n${'x'.repeat(15)}\r\n1\r\nx\r\n0\r\n\r\n`),
    ),
    must('zeros before a size', both, chunked('00005\r\nhello\r\n0000\r\n\r\n')),
    ...(
      [
        ['a sign before a size', '+5\r\nhello\r\n0\r\n\r\n'],
        ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
        ['0x before a size', '0x5\r\nhello\r\n0\r\n\r\n'],
        ['no size', '\r\nhello\r\n0\r\n\r\n'],
        ['a size that is no number', 'g\r\nhello\r\n0\r\n\r\n'],
        ['a size with an underscore', '0_5\r\nhello\r\n0\r\n\r\n'],
        ['a size of 2^64 + 5', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
        ['a space before a size', ' 5\r\nhello\r\n0\r\n\r\n'],
        ['data longer than its size', '5\r\nhello!\r\n0\r\n\r\n'],
        ['data shorter than its size', '5\r\nhell\r\n0\r\n\r\n'],
        ['no line break after data', '5\r\nhello0\r\n\r\n'],
        ['a bare CR after a size', '5\rhello\r\n0\r\n\r\n'],
        ['NUL in a size', '5\0\r\nhello\r\n0\r\n\r\n'],
        ['a sign before the last size', '5\r\nhello\r\n-0\r\n\r\n'],
      ] as const
    ).map(([title, body]) =>
      must(
        title,
        looks('no whole request at the origin', 1, ({ origin, number }) => {
          const came = origin.of(number)
          return came.length === 0
            ? null
            : `the origin got ${came.map(({ startLine }) => startLine).join(', ')}`
        }),
        chunked(body),
      ),
    ),
    ...(
      [
        ['a bare LF after a size', '5\nhello\r\n0\r\n\r\n'],
        ['a bare LF after data', '5\r\nhello\n0\r\n\r\n'],
        ['a space after a size', '5 \r\nhello\r\n0\r\n\r\n'],
        ['a bare LF at the end', '5\r\nhello\r\n0\r\n\n'],
      ] as const
    ).map(([title, body]) => must(title, sameOrRefused(['main', 'hello'], ['behind', '']), chunked(body))),
  ),
  ...section(
    'RFC 9112 7.1.1',
    must('an extension', both, chunked('5;a=1\r\nhello\r\n0;b\r\n\r\n')),
    must('an extension in quotes', both, chunked('5;a="x y;"\r\nhello\r\n0\r\n\r\n')),
    must(
      'a bare LF in an extension',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5;a\nhello\r\n0\r\n\r\n'),
    ),
    must(
      'a bare CR in an extension',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5;a\rb\r\nhello\r\n0\r\n\r\n'),
    ),
    must(
      'NUL in an extension',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5;a\0\r\nhello\r\n0\r\n\r\n'),
    ),
  ),
  ...section(
    'RFC 9112 7.1.2',
    must('a trailer section', both, chunked('5\r\nhello\r\n0\r\nX-Late: 1\r\n\r\n')),
    must(
      'a length in the trailer section',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5\r\nhello\r\n0\r\nContent-Length: 500\r\n\r\n'),
    ),
    must(
      'a coding in the trailer section',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'),
    ),
    must(
      'a host in the trailer section',
      looks('refused, or not in the header section', 1, ({ origin, number }) => {
        const [main] = origin.of(number)
        return main === undefined || main.field('host') === 'site.test' ? null : 'it is'
      }),
      chunked('5\r\nhello\r\n0\r\nHost: other.test\r\n\r\n'),
    ),
    must(
      'a request in place of the trailer section',
      looks('no hidden request', 1, ({ origin, number }) =>
        origin.of(number).some(({ target }) => target.endsWith('hidden')) ? 'it got there' : null,
      ),
      path => post(path, 'Transfer-Encoding: chunked\r\n', `5\r\nhello\r\n0\r\n${hidden(path)}`),
    ),
    must(
      'a folded field in the trailer section',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      chunked('5\r\nhello\r\n0\r\nX-A: 1\r\n 2\r\n\r\n'),
    ),
  ),
  ...section(
    'RFC 9112 8',
    must('a body that ends before its length', cutShort, path =>
      post(path, 'Content-Length: 50\r\n', 'hello'),
    ),
    must('a chunked body that ends before its last chunk', cutShort, path =>
      post(path, 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n'),
    ),
    must('a chunk of 2^32 + 5 bytes that ends after 5', cutShort, path =>
      post(path, 'Transfer-Encoding: chunked\r\n', '100000005\r\nhello\r\n0\r\n\r\n'),
    ),
  ),
  ...section(
    'RFC 9112 9.3',
    must(
      'two requests',
      served(['main', ''], ['second', '']),
      path => get(path) + get(path, 'Connection: close\r\n', `${path}second`),
    ),
    must(
      'Connection: close ends the connection',
      looks('the end', 1, async ({ client }) =>
        (await client.until(() => client.isClosed)) ? null : 'it stays',
      ),
      path => get(path, 'Connection: close\r\n'),
    ),
    must(
      'HTTP/1.0 ends the connection',
      looks('the end', 1, async ({ client }) =>
        (await client.until(() => client.isClosed)) ? null : 'it stays',
      ),
      path => get(path).replace('HTTP/1.1', 'HTTP/1.0'),
    ),
    must(
      'what follows Connection: close is not served',
      looks('one response', 1, async ({ client, origin, number }) => {
        await client.until(() => client.isClosed)
        return origin.of(number).length === 1 && client.responses().length === 1 ? null : 'more'
      }),
      path => get(path, 'Connection: close\r\n') + behind(path),
    ),
    must(
      'HTTP/1.0 gets no chunks',
      looks('no coding', 1, async ({ client }) => {
        await client.until(() => client.isClosed)
        return field(client, 'transfer-encoding').length === 0 ? null : 'chunked'
      }),
      path => get(path).replace('HTTP/1.1', 'HTTP/1.0'),
    ),
  ),
  ...section(
    'RFC 9112 9.3.2',
    must(
      'responses come in the order of their requests',
      looks('20 responses in order', 20, ({ client, origin, number }) => {
        if (client.responses().length !== 20) return `${client.responses().length} responses`
        return origin.of(number).length === 20 ? null : 'fewer requests'
      }),
      path => Array.from({ length: 20 }, (_, i) => get(path, '', `${path}${i}`)).join(''),
    ),
    must(
      'a body between two requests',
      served(['first', ''], ['main', 'hello'], ['behind', '']),
      path => get(path, '', `${path}first`) + framed('Content-Length: 5\r\n', 'hello')(path),
    ),
    must(
      'a refusal after a request does not take its response',
      looks('200, then 400', 2, async ({ client }) => {
        await client.until(() => client.isClosed)
        const statuses = client.responses().map(({ status }) => status)
        return statuses[0] === 200 && (statuses[1] ?? 0) >= 400 ? null : statuses.join(', ')
      }),
      path => `${get(path)}GET ${path}second HTTP/1.1\r\nHost: a b\r\n\r\n`,
    ),
  ),
  ...section(
    'RFC 9110 6.6.1',
    must(
      'a response without Date gets one',
      looks('one Date', 1, ({ client }) =>
        field(client, 'date').length === 1 ? null : `${field(client, 'date').length}`,
      ),
      path => get(path, 'Connection: close\r\n'),
    ),
  ),
  ...section(
    'RFC 9110 7.6.1',
    must('fields that Connection names are not passed on', noField('x-hop', 'x-other'), path =>
      get(path, 'Connection: close, X-Hop,x-other\r\nX-Hop: 1\r\nX-Other: 1\r\nX-A: 1\r\n'),
    ),
    must(
      'fields of the connection are not passed on',
      noField('keep-alive', 'proxy-connection', 'te', 'upgrade'),
      path =>
        get(
          path,
          'Connection: close, TE\r\nKeep-Alive: timeout=5\r\nProxy-Connection: close\r\nTE: gzip\r\nUpgrade: foo\r\n',
        ),
    ),
    must(
      'Connection cannot take a length away',
      sameOrRefused(['main', 'hello'], ['behind', '']),
      framed('Connection: Content-Length\r\nContent-Length: 5\r\n', 'hello'),
    ),
    must(
      'Connection cannot take Host away',
      servedAnd(([main]) => (main!.field('host') === 'site.test' ? null : 'no Host'), ['main', '']),
      path => get(path, 'Connection: close, Host\r\n'),
    ),
  ),
  ...section(
    'RFC 9110 7.6.3',
    must(
      'requests get Via',
      looks('Via', 1, ({ origin, number }) =>
        (origin.of(number)[0]?.all('via').length ?? 0) > 0 ? null : 'none',
      ),
      path => get(path, 'Connection: close\r\n'),
    ),
  ),
  ...section(
    'RFC 9110 7.6.2',
    must(
      'OPTIONS with Max-Forwards of 0 is not passed on',
      looks('nothing at the origin', 1, ({ origin, number }) =>
        origin.of(number).length === 0 ? null : 'it got there',
      ),
      path => get(path, 'Max-Forwards: 0\r\nConnection: close\r\n').replace('GET', 'OPTIONS'),
    ),
    must(
      'OPTIONS with Max-Forwards of 5 goes on with 4',
      servedAnd(
        ([main]) => (main!.field('max-forwards') === '4' ? null : `${main!.field('max-forwards')}`),
        ['main', ''],
      ),
      path => get(path, 'Max-Forwards: 5\r\nConnection: close\r\n').replace('GET', 'OPTIONS'),
    ),
  ),
  ...section(
    'RFC 9110 9.3.2',
    must(
      'the response to HEAD has no body',
      looks(
        'no body',
        2,
        ({ client }) => {
          const [first, second] = client.responses(['HEAD', 'GET'])
          return first?.status === 200 && second?.status === 200 && second.body === 'hello'
            ? null
            : client.received
        },
        ['HEAD', 'GET'],
      ),
      path => get(path).replace('GET', 'HEAD') + behind(path),
    ),
  ),
  ...section(
    'RFC 9110 10.1.1',
    must(
      'Expect: 100-continue',
      looks('100, or the response alone', 0, async trial => {
        const { client, number, origin } = trial
        client.send('hello')
        await client.finals(1)
        const came = origin.of(number)
        return came.length === 1 && came[0]!.text === 'hello' && client.responses().at(-1)?.status === 200
          ? null
          : client.received.slice(0, 40)
      }),
      path => post(path, 'Expect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n', ''),
    ),
    must(
      'Expect: 100-continue from HTTP/1.0',
      looks('no 100', 1, ({ client }) =>
        client.responses().some(({ status }) => status === 100) ? '100' : null,
      ),
      path =>
        post(path, 'Expect: 100-continue\r\nContent-Length: 5\r\n', 'hello').replace('HTTP/1.1', 'HTTP/1.0'),
    ),
    should(
      'an unknown expectation',
      looks('417', 1, ({ client }) =>
        client.responses()[0]?.status === 417 ? null : client.received.slice(0, 40),
      ),
      path => get(path, 'Expect: the-moon\r\n'),
    ),
  ),
]
