// Reads the text format of Prometheus as strictly as its server does, for tests that look at metrics.

import assert from 'node:assert/strict'

export interface Exposition {
  /** Values by series, as written: `name{label="value"}`. */
  readonly samples: ReadonlyMap<string, number>
  readonly types: ReadonlyMap<string, string>
}

const series = /^([a-zA-Z_:][\w:]*)((?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+)$/

/** Asserts that every line parses, that each sample follows its HELP and TYPE, that no series comes twice and that buckets never fall. */
export function readMetrics(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the text ends with a line feed')
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  const helps = new Set<string>()
  let lastBucket = { series: '', value: 0 }
  for (const line of text.split('\n').filter(Boolean)) {
    const [, comment, about, rest] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? []
    if (comment === 'HELP') helps.add(about!)
    else if (comment === 'TYPE') types.set(about!, rest!)
    else {
      const [, name, labels, number] = series.exec(line) ?? assert.fail(`no sample: ${line}`)
      const family = types.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, '')
      assert.ok(types.has(family) && helps.has(family), `HELP and TYPE come before ${line}`)
      const value = number === 'Nan' ? Number.NaN : Number(number!.replace('Inf', 'Infinity'))
      assert.ok(number === 'Nan' || !Number.isNaN(value), `a number ends ${line}`)
      assert.ok(!samples.has(name! + labels), `${line} comes once`)
      samples.set(name! + labels, value)
      if (name!.endsWith('_bucket') && types.get(family) === 'histogram') {
        const bucket = { series: name! + labels!.replace(/,?le="[^"]*"/, ''), value }
        if (bucket.series === lastBucket.series)
          assert.ok(value >= lastBucket.value, `buckets add up at ${line}`)
        lastBucket = bucket
      }
    }
  }
  return { samples, types }
}
