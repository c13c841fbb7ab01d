import { deepEqual, equal, match } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  formatDuration,
  formatRate,
  formatSize,
  parseByteRate,
  parseDuration,
  parseRate,
  parseSize,
  type Reading,
} from '../../../src/base/text/quantity.ts'

describe('durations', () => {
  reads(parseDuration, {
    '250ms': 250,
    '30s': 30_000,
    '5m': 300_000,
    '2h': 7_200_000,
    '1d': 86_400_000,
    off: 0,
    '0s': 0,
    '007s': 7000,
  })
  refuses(parseDuration, [
    '',
    '30',
    's',
    '30 s',
    ' 30s',
    '30S',
    '1.5s',
    '-1s',
    '1m30s',
    '30min',
    'Off',
    '9007199254740992ms',
    '1e3s',
    '3toString',
  ])

  test('are written in the largest unit that divides them', () => {
    equal(formatDuration(90_000), '90s')
    equal(formatDuration(120_000), '2m')
    equal(formatDuration(0), 'off')
  })

  test('come back as they went', () => {
    fc.assert(fc.property(fc.maxSafeNat(), ms => deepEqual(parseDuration(formatDuration(ms)), { value: ms })))
  })
})

describe('sizes', () => {
  reads(parseSize, {
    '0B': 0,
    '16KiB': 16_384,
    '10MiB': 10_485_760,
    '1GiB': 2 ** 30,
    '1TiB': 2 ** 40,
    '10kB': 10_000,
    '10MB': 10_000_000,
    '1GB': 1e9,
  })
  refuses(parseSize, ['', '10', 'MiB', '10 MiB', '10mib', '10KB', '1.5MiB', '-1B', 'off', '9000000TiB'])

  test('are written in the largest unit that divides them', () => {
    equal(formatSize(131_072), '128KiB')
    equal(formatSize(1000), '1000B')
    equal(formatSize(0), '0B')
  })

  test('come back as they went', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), bytes => deepEqual(parseSize(formatSize(bytes)), { value: bytes })),
    )
  })
})

describe('bytes a second', () => {
  reads(parseByteRate, { '500B/s': 500, '2KiB/s': 2048, '1MB/s': 1e6 })
  for (const text of ['', '500', '500B', '/s', '500/s', '500B/m', '500 B/s', '1.5KiB/s', 'off'])
    test(`"${text}" is refused`, () => {
      deepEqual(parseByteRate(text), { flaw: 'must be a size per second, such as 500B/s' })
    })
})

describe('rates', () => {
  const second = 1000
  const rates = {
    '10/s': [10, second],
    '100/min': [100, 60 * second],
    '100/m': [100, 60 * second],
    '1000/h': [1000, 3600 * second],
    '600/10m': [600, 600 * second],
    '600/10min': [600, 600 * second],
    '5000/d': [5000, 86_400 * second],
    '5/500ms': [5, 500],
  } as const
  for (const [text, [limit, period]] of Object.entries(rates)) {
    test(`"${text}" is ${limit} in ${period} ms`, () => {
      deepEqual(parseRate(text), { value: { limit, period } })
    })
  }
  refuses(parseRate, [
    '',
    '10',
    '/s',
    '10/',
    '10/ s',
    '10 /s',
    '1.5/s',
    '-1/s',
    '10/sec',
    '10/off',
    '10/1.5s',
    '10/5',
  ])

  test('are written in the largest unit that divides them', () => {
    equal(formatRate({ limit: 10, period: second }), '10/s')
    equal(formatRate({ limit: 600, period: 600 * second }), '600/10m')
    equal(formatRate({ limit: 1, period: 31 * 86_400 * second }), '1/31d')
  })

  test('come back as they went', () => {
    const period = fc.integer({ min: 1 })
    fc.assert(
      fc.property(fc.nat(), period, (limit, period) =>
        deepEqual(parseRate(formatRate({ limit, period })), { value: { limit, period } }),
      ),
    )
  })
})

test('any text gives a value or a flaw', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      for (const parse of [parseDuration, parseRate, parseSize]) equal(Object.keys(parse(text)).length, 1)
    }),
  )
})

function reads(parse: (text: string) => Reading<number>, expected: Readonly<Record<string, number>>): void {
  for (const [text, value] of Object.entries(expected)) {
    test(`"${text}" is ${value}`, () => deepEqual(parse(text), { value }))
  }
}

function refuses(parse: (text: string) => Reading<unknown>, texts: readonly string[]): void {
  for (const text of texts) {
    test(`"${text}" is refused`, () => {
      const reading = parse(text)
      match('flaw' in reading ? reading.flaw : 'no flaw', /^must be a whole number/)
    })
  }
}
