import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GuardReport } from '../../src/guard/report.ts'

test('however many names a webhook finds, a report has about a hundred', () => {
  const report = new GuardReport()
  for (let i = 0; i < 1_000; i++) report.note('response', `webhook:${i}`, 'flag')
  report.note('response', 'webhook:7', 'flag')
  report.note('response', 'webhook:x', 'block')
  const { findings } = report
  assert.equal(findings.length, 102)
  assert.equal(findings.find(({ name }) => name === 'webhook:7')!.count, 2)
  assert.deepEqual(
    findings.filter(({ name }) => name === 'webhook').map(({ action, count }) => [action, count]),
    [
      ['flag', 900],
      ['block', 1],
    ],
  )
  assert.equal(report.action, 'block')
})
