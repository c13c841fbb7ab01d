import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { acceptedCoding } from '../../../src/edge/encoding/accept-encoding.ts'
import { contentCodings } from '../../../src/config/model/compression-config.ts'

const choose = acceptedCoding(contentCodings)

test('the coding with the highest weight is chosen, of equal ones the most preferred', () => {
  const rows: [line: string, coding: string | null][] = [
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate', null],
    ['', null],
    [' , ,gzip,', 'gzip'],
    ['*', 'zstd'],
    ['*;q=0', null],
    ['*;q=0, br', 'br'],
    ['gzip;q=0, *', 'zstd'],
    ['zstd;q=0, br;q=0, gzip;q=0, *', null],
    ['gzip;q=0, x-gzip;q=0, zstd;q=0, *;q=0.1', 'br'],
    ['gzip;q=0', null],
    ['gzip;q=0.5, br;q=0.8, zstd;q=0.7', 'br'],
    ['gzip ; Q=1.000 , zstd;q=0.999', 'gzip'],
    ['identity', null],
    ['identity, gzip', 'gzip'],
    ['identity;q=1, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0', null],
    ['gzip, gzip;q=0', 'gzip'],
  ]
  for (const [line, coding] of rows) equal(choose(line), coding, line)
})

test('a line that is not well-formed asks for nothing', () => {
  for (const line of [
    'gzip;q=2',
    'gzip;q=-1',
    'gzip;q=1.001',
    'gzip;q=0.1234',
    'gzip;q=',
    'gzip;level=1',
    'gzip br',
    'g"zip',
    'gzip;q="1"',
    'gzip;q=1;q=0',
    `gzip${', a'.repeat(2000)}`,
  ])
    equal(choose(line), null, line.slice(0, 40))
})

test('blanks between commas take no longer than others to refuse', () => {
  for (const count of [24, 2_000]) {
    const { user } = process.threadCpuUsage()
    equal(choose(`${' ,'.repeat(count)}"`), null)
    const spent = (process.threadCpuUsage().user - user) / 1_000
    ok(spent < 100, `${spent} ms for ${count}`)
  }
})

test('only what is listed is chosen, in its order', () => {
  const gzipFirst = acceptedCoding(['gzip', 'br'])
  deepEqual(
    ['zstd', 'br, gzip', '*', 'br'].map(line => gzipFirst(line)),
    [null, 'gzip', 'gzip', 'br'],
  )
})

/** Says what is right for members that differ, by the words of the RFC: the weight of a coding is its own, or that of *. */
function model(members: readonly (readonly [name: string, weight: number])[]): string | null {
  const weights = new Map(members)
  const any = weights.get('*') ?? 0
  const best = contentCodings
    .map(coding => ({ coding, weight: weights.get(coding) ?? any }))
    .reduce((a, b) => (b.weight > a.weight ? b : a))
  const plain = weights.get('identity') ?? weights.get('*') ?? 0
  return best.weight > 0 && best.weight >= plain ? best.coding : null
}

test('any line chooses what the RFC says, however it is written, and twice the same', () => {
  const name = fc.constantFrom('gzip', 'br', 'zstd', 'deflate', 'identity', '*', 'x-other')
  const weighted = fc.tuple(name, fc.integer({ min: 0, max: 1000 }))
  const space = fc.constantFrom('', ' ', '\t', '  ')
  fc.assert(
    fc.property(
      fc.uniqueArray(weighted, { selector: ([one]) => one, minLength: 1 }),
      space,
      fc.boolean(),
      (members, gap, shouts) => {
        const written = members.map(([one, weight]) => {
          const named = shouts ? one.toUpperCase() : one
          return weight === 1000 ? named : `${named}${gap};${gap}q=${(weight / 1000).toFixed(3)}`
        })
        const line = written.join(`${gap},${gap}`)
        const expected = model(members.map(([one, weight]) => [one, weight / 1000]))
        equal(choose(line), expected, line)
        equal(choose(line), expected, line)
      },
    ),
  )
})

test('any text is taken, and asks for something only where it names that', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'binary-ascii' }), line => {
      const coding = choose(line)
      if (coding !== null) equal(line.includes('*') || line.toLowerCase().includes(coding), true)
    }),
  )
})
