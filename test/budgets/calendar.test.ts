import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { periodEnds } from '../../src/budgets/calendar.ts'
import type { CalendarPeriod } from '../../src/store/records/budget-rule.ts'

const end = (period: CalendarPeriod, zone: string, now: string) =>
  new Date(periodEnds(period, zone)(Date.parse(now))).toISOString()

test('days, weeks from Monday, and months end at midnight of their time zone', () => {
  const cases: readonly [CalendarPeriod, string, string, string][] = [
    ['day', 'UTC', '2031-05-14T00:00:00.000Z', '2031-05-15T00:00:00.000Z'],
    ['day', 'UTC', '2031-05-14T23:59:59.999Z', '2031-05-15T00:00:00.000Z'],
    ['day', 'Asia/Kolkata', '2031-05-14T18:29:59Z', '2031-05-14T18:30:00.000Z'],
    ['day', 'Asia/Kolkata', '2031-05-14T18:30:00Z', '2031-05-15T18:30:00.000Z'],
    ['week', 'UTC', '2031-05-11T23:59:59Z', '2031-05-12T00:00:00.000Z'],
    ['week', 'UTC', '2031-05-12T00:00:00Z', '2031-05-19T00:00:00.000Z'],
    ['week', 'America/New_York', '2031-05-12T03:59:59Z', '2031-05-12T04:00:00.000Z'],
    ['month', 'UTC', '2032-02-29T12:00:00Z', '2032-03-01T00:00:00.000Z'],
    ['month', 'Pacific/Kiritimati', '2031-12-31T09:59:59Z', '2031-12-31T10:00:00.000Z'],
    ['month', 'Pacific/Kiritimati', '2031-12-31T10:00:00Z', '2032-01-31T10:00:00.000Z'],
  ]
  for (const [period, zone, now, until] of cases)
    assert.equal(end(period, zone, now), until, `${period} ${zone} ${now}`)
})

test('a day is as long as the clocks of its time zone make it, and may begin after midnight', () => {
  // 23 and 25 hours.
  assert.equal(end('day', 'Europe/Berlin', '2031-03-29T23:00:00Z'), '2031-03-30T22:00:00.000Z')
  assert.equal(end('day', 'Europe/Berlin', '2031-10-25T22:00:00Z'), '2031-10-26T23:00:00.000Z')
  // Clocks went from 23:59 to 1:00.
  assert.equal(end('day', 'Africa/Cairo', '2026-04-23T12:00:00Z'), '2026-04-23T22:00:00.000Z')
  // They went back from midnight to 23:00.
  assert.equal(end('day', 'Africa/Cairo', '2026-10-29T12:00:00Z'), '2026-10-29T22:00:00.000Z')
})

test('an unknown time zone is UTC', () => {
  assert.equal(end('day', 'Mars/Olympus', '2031-05-14T12:00:00Z'), '2031-05-15T00:00:00.000Z')
})

test('what is remembered of a period ends with it, and before it where a clock goes back', () => {
  const ends = periodEnds('day', 'UTC')
  const at = (text: string) => new Date(ends(Date.parse(text))).toISOString().slice(0, 10)
  assert.deepEqual(
    ['2031-05-14T00:00Z', '2031-05-14T23:59Z', '2031-05-15T00:00Z', '2031-05-13T12:00Z'].map(at),
    ['2031-05-15', '2031-05-15', '2031-05-16', '2031-05-14'],
  )
})

test('periods end when Temporal says, in every time zone', () => {
  const spans = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const
  fc.assert(
    fc.property(
      fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
      fc.constantFrom<CalendarPeriod>('day', 'week', 'month'),
      fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2037, 0) }),
      (zone, period, now) => {
        const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()
        const first =
          period === 'month'
            ? today.with({ day: 1 })
            : period === 'week'
              ? today.subtract({ days: today.dayOfWeek - 1 })
              : today
        const next = first.add(spans[period]).toZonedDateTime(zone)
        assert.equal(periodEnds(period, zone)(now), next.epochMilliseconds, `${zone} ${period} ${now}`)
      },
    ),
    { numRuns: 300 },
  )
})
