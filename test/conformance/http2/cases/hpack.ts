// RFC 7541: the tables, integers, strings and representations of header blocks.

import { flag, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { frame, settings } from '../../../help/http2.ts'
import { type Connection, statusOf } from '../connection.ts'
import { check, connectionError, endOf, served } from '../expect.ts'
import {
  added,
  block,
  type Field,
  huffman,
  indexed,
  integer,
  literal,
  neverIndexed,
  string,
  tableSize,
} from '../hpack.ts'
import { must, section, should } from '../write.ts'

/** A request that a field follows. */
const followedBy =
  (...fields: readonly Field[]) =>
  (connection: Connection) =>
    connection.get(1, '/', ...fields)

/** A request with something in front. */
const behind =
  (...fields: readonly Field[]) =>
  (connection: Connection) =>
    connection.headers(1, [...fields, ...connection.fields()])

const invalid = connectionError('compression')
/** `www.example.com`, of RFC 7541 section C.4.1. */
const example = huffman(0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff)
/** A field as large as the table, 4,096 bytes with what an entry costs. */
const asLargeAsTable = added('x-large', 'x'.repeat(4_096 - 32 - 7))

/** The origin gets a field with this value. */
const fieldAtOrigin = (name: string, value: string, stream = 1) =>
  check(`${name}: ${value}`, async connection => {
    const response = await connection.response(stream)
    if (statusOf(response) !== 200) return endOf(connection, stream)
    const { fields } = JSON.parse(response.body.toString()) as { fields: string[] }
    const at = fields.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name)
    return at !== -1 && fields[at + 1] === value ? null : `${fields[at + 1]}`
  })

export const hpackCases = [
  ...section(
    'RFC 7541 2.3.2',
    must('the newest entry has the lowest index', fieldAtOrigin('x-b', '2'), connection =>
      connection.get(1, '/seen', added('x-a', '1'), added('x-b', '2'), indexed(62)),
    ),
    must('an entry may be there twice', fieldAtOrigin('x-a', '1', 3), connection => {
      connection.get(1, '/', added('x-a', '1'), added('x-a', '1'))
      connection.get(3, '/seen', indexed(63))
    }),
  ),
  ...section(
    'RFC 7541 2.3.3',
    must('an index beyond both tables', invalid, followedBy(indexed(62))),
    must('an index far beyond both tables', invalid, followedBy(indexed(100_000))),
    must('an index beyond the last entry', invalid, followedBy(added('x-a', '1'), indexed(63))),
    must('the name of an entry beyond both tables', invalid, followedBy(literal(62, '1'))),
    must('the name of a new entry beyond both tables', invalid, followedBy(added(90, '1'))),
    must(
      'the name of a field beyond both tables that is never indexed',
      invalid,
      followedBy(neverIndexed(70, '1')),
    ),
  ),
  ...section(
    'RFC 7541 3.2',
    must(
      'order and duplicates are kept',
      check('a, b, a', async connection => {
        const response = await connection.response()
        if (statusOf(response) !== 200) return endOf(connection, 1)
        const { fields } = JSON.parse(response.body.toString()) as { fields: string[] }
        const values = fields
          .filter((_, i) => i % 2 === 1 && fields[i - 1]!.toLowerCase() === 'x-a')
          .join(', ')
        return values === 'a, b, a' ? null : values
      }),
      connection => connection.get(1, '/seen', ['x-a', 'a'], added('x-a', 'b'), neverIndexed('x-a', 'a')),
    ),
  ),
  ...section(
    'RFC 7541 4.2',
    must('a new size at the beginning', served(), behind(tableSize(0))),
    must('two new sizes at the beginning', served(), behind(tableSize(0), tableSize(4_096))),
    must('a size of 4,096', served(), behind(tableSize(4_096))),
    must('a size above SETTINGS_HEADER_TABLE_SIZE', invalid, connection =>
      connection.headers(1, [
        tableSize(connection.settingOf(setting.headerTableSize, 4_096) + 1),
        ...connection.fields(),
      ]),
    ),
    must('a size of 2^31', invalid, behind(tableSize(2 ** 31))),
    must('a new size after a field', invalid, followedBy(tableSize(100))),
    must('a new size after the first field', invalid, connection => {
      const [first, ...others] = connection.fields()
      connection.headers(1, [first!, tableSize(0), ...others])
    }),
    must('a new size in a block of its own that continues', served(), connection => {
      connection.send(frame(frameType.headers, flag.endStream, 1, tableSize(0)))
      connection.send(frame(frameType.continuation, flag.endHeaders, 1, block(...connection.fields())))
    }),
    must(
      'a table of no bytes is announced, and not used',
      check('a block that begins with its size', async connection => {
        connection.get(1, '/fields')
        await connection.response(1)
        connection.send(settings([setting.headerTableSize, 0]))
        await connection.settled()
        connection.get(3, '/fields')
        await connection.response(3)
        const sent = connection.frames.find(({ type, stream }) => type === frameType.headers && stream === 3)
        if (sent === undefined) return endOf(connection, 3)
        return sent.payload[0] === 0x20 ? null : `it begins with ${sent.payload[0]?.toString(16)}`
      }),
      () => {},
    ),
  ),
  ...section(
    'RFC 7541 4.3',
    must('a size of 0 removes all entries', invalid, connection => {
      connection.get(1, '/', added('x-a', '1'))
      connection.headers(3, [tableSize(0), tableSize(4_096), ...connection.fields(), indexed(62)])
    }),
    must('a smaller size keeps what fits', fieldAtOrigin('x-b', '2', 3), connection => {
      connection.get(1, '/', added('x-a', '1'), added('x-b', '2'))
      connection.headers(3, [tableSize(40), ...connection.fields('GET', '/seen'), indexed(62)])
    }),
    must('a smaller size removes what does not fit', invalid, connection => {
      connection.get(1, '/', added('x-a', '1'), added('x-b', '2'))
      connection.headers(3, [tableSize(40), ...connection.fields(), indexed(63)])
    }),
  ),
  ...section(
    'RFC 7541 4.4',
    must('the oldest entry makes room', invalid, connection => {
      connection.get(1, '/', added('x-a', '1'), asLargeAsTable)
      connection.get(3, '/', indexed(63))
    }),
    must('an entry as large as the table', served(3), connection => {
      connection.get(1, '/', asLargeAsTable)
      connection.get(3, '/', indexed(62))
    }),
    must('an entry larger than the table empties it', invalid, connection => {
      connection.get(1, '/', added('x-a', '1'), added('x-large', 'x'.repeat(4_100)))
      connection.get(3, '/', indexed(62))
    }),
    must('an entry larger than the table is no error', served(), connection =>
      connection.get(1, '/', added('x-large', 'x'.repeat(4_100))),
    ),
    must(
      'a name of an entry that makes room for it',
      fieldAtOrigin('x-large', 'y'.repeat(4_057), 3),
      connection => {
        connection.get(1, '/', added('x-large', 'x'))
        connection.get(3, '/seen', added(62, 'y'.repeat(4_057)))
      },
    ),
  ),
  ...section(
    'RFC 7541 5.1',
    must('an integer without its end', invalid, followedBy(Buffer.from([0xff, 0x80]))),
    must('an integer that ends with its prefix', invalid, followedBy(Buffer.from([0xff]))),
    must(
      'an integer of ten bytes',
      invalid,
      followedBy(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])),
    ),
    must(
      'an integer above 2^64',
      invalid,
      followedBy(Buffer.concat([Buffer.from([0x00, 0x7f]), Buffer.alloc(11, 0xff), Buffer.from([0x01])])),
    ),
    must(
      'an index that wraps around at 2^32',
      invalid,
      followedBy(Buffer.from([0xff, 0x83, 0xff, 0xff, 0xff, 0x0f])),
    ),
    should(
      'an integer with a byte of zeros',
      served(),
      followedBy(
        Buffer.concat([
          Buffer.from([0]),
          string('x-a'),
          Buffer.from([0x7f, 0x81, 0x00]),
          Buffer.alloc(128, 'x'),
        ]),
      ),
    ),
  ),
  ...section(
    'RFC 7541 5.2',
    must(
      'a string longer than its block',
      invalid,
      followedBy(Buffer.concat([Buffer.from([0]), string('x-a'), integer(50, 7), Buffer.from('x')])),
    ),
    must(
      'a name longer than its block',
      invalid,
      followedBy(Buffer.concat([Buffer.from([0]), integer(500, 7), Buffer.from('x')])),
    ),
    must('a value is missing', invalid, followedBy(Buffer.concat([Buffer.from([0]), string('x-a')]))),
    must('Huffman’s code', fieldAtOrigin('x-a', 'www.example.com'), connection =>
      connection.get(1, '/seen', literal('x-a', example)),
    ),
    must('Huffman’s code of no bytes', served(), followedBy(literal('x-a', huffman()))),
    must('padding of 8 bits', invalid, followedBy(literal('x-a', huffman(...example.subarray(1), 0xff)))),
    must('padding of 16 bits', invalid, followedBy(literal('x-a', huffman(0xff, 0xff)))),
    must('padding of zeros', invalid, followedBy(literal('x-a', huffman(0b0001_1000)))),
    must(
      'padding that is not the beginning of EOS',
      invalid,
      followedBy(literal('x-a', huffman(0b0001_1101))),
    ),
    must('EOS', invalid, followedBy(literal('x-a', huffman(0xff, 0xff, 0xff, 0xff)))),
    must('EOS amid a string', invalid, followedBy(literal('x-a', huffman(0x1f, 0xff, 0xff, 0xff, 0xe3)))),
    must(
      'Huffman’s code of a byte that no value may have',
      check('a reset, or 4xx', async connection => {
        const response = await connection.response()
        return statusOf(response) === 200 ? 'status 200' : null
      }),
      followedBy(literal('x-a', huffman(0xff, 0xc7))),
    ),
  ),
  ...section(
    'RFC 7541 6.1',
    must('index 0', invalid, followedBy(indexed(0))),
    must('entries of the static table', served(), connection =>
      connection.headers(1, [
        indexed(2),
        indexed(connection.scheme === 'http' ? 6 : 7),
        indexed(4),
        [':authority', 'site.test'],
        indexed(16),
      ]),
    ),
  ),
  ...section(
    'RFC 7541 6.2.1',
    must('a new name', fieldAtOrigin('x-a', '1', 3), connection => {
      connection.get(1, '/', added('x-a', '1'))
      connection.get(3, '/seen', indexed(62))
    }),
    must('the name of the static table', fieldAtOrigin('user-agent', 'a', 3), connection => {
      connection.get(1, '/', added(58, 'a'))
      connection.get(3, '/seen', indexed(62))
    }),
    must('the name of an entry that was added', fieldAtOrigin('x-a', '2', 3), connection => {
      connection.get(1, '/', added('x-a', '1'))
      connection.get(3, '/seen', added(62, '2'))
    }),
  ),
  ...section(
    'RFC 7541 6.2.2',
    must('a field without indexing is in no table', invalid, followedBy(literal('x-a', '1'), indexed(62))),
    must('with the name of an entry', fieldAtOrigin('x-a', '2', 3), connection => {
      connection.get(1, '/', added('x-a', '1'))
      connection.get(3, '/seen', literal(62, '2'))
    }),
  ),
  ...section(
    'RFC 7541 6.2.3',
    must(
      'a field that is never indexed is in no table',
      invalid,
      followedBy(neverIndexed('x-a', '1'), indexed(62)),
    ),
    must('a field that is never indexed comes to the origin', fieldAtOrigin('x-a', '1'), connection =>
      connection.get(1, '/seen', neverIndexed('x-a', '1')),
    ),
  ),
  ...section(
    'RFC 7541 6.3',
    must('a size whose integer has no end', invalid, behind(Buffer.from([0x3f, 0x80]))),
    must(
      'a block of a size alone',
      check('a reset, or 4xx', async connection => {
        const response = await connection.response()
        return statusOf(response) === 200 ? 'status 200' : null
      }),
      connection => connection.headers(1, [tableSize(0)]),
    ),
  ),
]
