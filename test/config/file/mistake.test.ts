import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Findings, fieldName, formatMistake, quote, stepInto } from '../../../src/config/file/mistake.ts'

test('formatMistake puts file, line and column first, and leaves an empty path out', () => {
  const mistake = { line: 12, column: 7, path: 'zones[0].routes[1].pool', message: 'pool is empty' }
  equal(
    formatMistake('gatehouse.yaml', mistake),
    'gatehouse.yaml:12:7 zones[0].routes[1].pool: pool is empty',
  )
  equal(formatMistake('gatehouse.yaml', { ...mistake, path: '' }), 'gatehouse.yaml:12:7 pool is empty')
})

test('formatMistake leaves the file out where an option or a variable is wrong', () => {
  for (const path of ['--listen', 'PORT']) {
    const mistake = { line: 0, column: 0, path, message: `${path} is wrong` }
    equal(formatMistake('gatehouse.yaml', mistake), `${path} is wrong`)
  }
})

test('paths are made of plain keys, quoted keys and indexes, and name their last step', () => {
  equal(stepInto(stepInto(stepInto('', 'zones'), 0), 'hosts'), 'zones[0].hosts')
  equal(stepInto('pools', 'a.b'), 'pools["a.b"]')
  equal(fieldName('zones[0].hosts[2]'), 'hosts[2]')
  equal(fieldName('pools["a.b"]'), 'pools["a.b"]')
  equal(fieldName(''), 'the configuration')
})

test('quote cuts long texts, and hides the credentials of URLs wherever the cut is', () => {
  equal(quote('a\nb'), '"a\\nb"')
  equal(quote('https://user:word@a.example/x@y'), '"https://…@y"')
  equal(quote(`https://${'x'.repeat(100)}@a.example`), '"https://…@a.example"')
  equal(quote('user:word@a.example:80'), '"…@a.example:80"')
  equal(quote('x'.repeat(100)).length, 82)
})

describe('Findings', () => {
  test('gives mistakes in the order of the file, whatever the order they were found in', () => {
    const findings = new Findings()
    findings.mistake({ line: 2, column: 1, path: 'c' }, 'third')
    findings.mistake({ line: 1, column: 9, path: 'b' }, 'second')
    findings.mistake({ line: 1, column: 2, path: 'a' }, 'first')
    deepEqual(
      findings.mistakes.map(({ message }) => message),
      ['first', 'second', 'third'],
    )
  })

  test('concern a path by a mistake at it or below, not by one beside it', () => {
    const findings = new Findings()
    findings.mistake({ line: 1, column: 1, path: 'zones[10].hosts[1]' }, 'wrong')
    for (const path of ['zones', 'zones[10]', 'zones[10].hosts', 'zones[10].hosts[1]'])
      equal(findings.concern(path), true, path)
    for (const path of ['zones[1]', 'zones[10].host', 'zones[10].hosts[0]'])
      equal(findings.concern(path), false, path)
  })
})
