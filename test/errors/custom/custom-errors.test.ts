import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorPages, ErrorRule } from '../../../src/config/model/custom-errors-config.ts'
import {
  type CustomErrorFailure,
  CustomErrors,
  type CustomLayer,
} from '../../../src/errors/custom/custom-errors.ts'
import { errorRule as rule, factsFor } from '../../help/custom-errors.ts'

const facts = factsFor('origin_down')

/** Compiles layers, and tells what failed so far. */
function compile(...layers: readonly CustomLayer[]) {
  const failures: CustomErrorFailure[] = []
  return { custom: new CustomErrors(layers, { failed: what => failures.push(what) }), failures }
}

const layer = (rules: readonly ErrorRule[], pages: ErrorPages = {}): CustomLayer => ({ rules, pages })

test('a page with too many tokens is left out, and reported', () => {
  const failed: string[] = []
  const pageOf = (tokens: number) =>
    new CustomErrors([layer([], { '1000_errors': '::GEO::::SVC_ERROR_1000S_BOX::'.repeat(tokens / 2) })], {
      failed: what => failed.push(what),
    }).findPage('dns_resolution_error')
  assert.notEqual(pageOf(1000), null)
  assert.deepEqual(failed, [])
  assert.equal(pageOf(1002), null)
  assert.deepEqual(failed, ['content'])
})

test('without rules and pages there is nothing to find', () => {
  for (const layers of [[], [layer([])], [layer([]), layer([])]]) {
    const custom = new CustomErrors(layers)
    assert.equal(custom.isEmpty, true)
    assert.equal(custom.find('origin_down', facts), null)
  }
  assert.equal(new CustomErrors([layer([rule({})]), layer([])]).isEmpty, false)
  assert.equal(new CustomErrors([layer([]), layer([], { waf_block: 'page' })]).isEmpty, false)
})

test('what is found says whose it is, and which', () => {
  const never = rule({ expression: 'false' })
  const of = (...layers: readonly CustomLayer[]) => {
    const found = new CustomErrors(layers).find('origin_down', facts)!
    return [found.source, found.index, found.page]
  }
  assert.deepEqual(of(layer([never, rule({})]), layer([rule({})])), ['zone_rule', 1, null])
  assert.deepEqual(of(layer([never]), layer([never, never, rule({})])), ['account_rule', 2, null])
  assert.deepEqual(of(layer([rule({})])), ['account_rule', 0, null])
  assert.deepEqual(of(layer([never, never]), layer([never, rule({})]), layer([])), ['zone_rule', 3, null])
  assert.deepEqual(of(layer([never]), layer([never]), layer([never, rule({})])), ['account_rule', 1, null])
  assert.deepEqual(of(layer([], { '500_errors': 'a' }), layer([never])), ['zone_page', null, '500_errors'])
  assert.deepEqual(of(layer([]), layer([], { '500_errors': 'a' })), ['account_page', null, '500_errors'])
})

test('the rule is returned as it was given', () => {
  const kept = { ...rule({}), id: 'kept' }
  assert.equal(new CustomErrors([layer([kept]), layer([])]).findRule(facts)?.rule, kept)
})

test('broken entries are skipped and counted, and the rest keep their order', () => {
  const broken = [
    rule({ expression: '' }),
    rule({ expression: 'error.code' }),
    rule({ expression: 'x'.repeat(5000) }),
    rule({ status: 399 }),
    rule({ status: 1000 }),
    rule({ status: 404.5 }),
    rule({ content: 'é'.repeat(5121) }),
    rule({ contentType: 'text/css' as 'text/html' }),
    rule({ expression: undefined as unknown as string }),
    rule({ content: null as unknown as string }),
    null as unknown as ErrorRule,
  ]
  const { custom, failures } = compile(layer([...broken, rule({ content: 'é'.repeat(5120) })]))
  assert.deepEqual(
    failures,
    broken.map(() => 'content'),
  )
  assert.equal(custom.find('origin_down', facts)?.index, broken.length)
})

test('a page that is empty, too large or none is left out and counted', () => {
  for (const html of ['', ' \n', 'x'.repeat(1_500_001), null as unknown as string]) {
    const { custom, failures } = compile(layer([], { '500_errors': html }))
    assert.equal(custom.find('origin_down', facts), null)
    assert.deepEqual(failures, ['content'])
  }
  assert.ok(new CustomErrors([layer([], { '500_errors': 'x'.repeat(1_500_000) })]).findPage('origin_down'))
})

test('an expression that fails at a request falls through, and is counted each time', () => {
  const { custom, failures } = compile(
    layer([rule({ expression: 'request.headers["x-a"] == ["1"]' })]),
    layer([rule({})], { '500_errors': 'page' }),
  )
  assert.deepEqual(failures, [])
  for (let i = 0; i < 2; i++) assert.equal(custom.find('origin_down', facts)?.source, 'account_rule')
  assert.deepEqual(failures, ['expression', 'expression'])
  const headers = new Map([['x-a', ['1']]])
  assert.equal(custom.find('origin_down', factsFor('origin_down', { headers }))?.source, 'zone_rule')
  assert.equal(failures.length, 2)
})

test('a layer is compiled once for all zones and snapshots that have it', () => {
  const account = layer([rule({}), rule({ status: 1 })], { '500_errors': 'page', waf_block: '' })
  const first = compile(layer([]), account)
  const second = compile(layer([]), { ...account })
  assert.equal(
    first.custom.find('origin_down', facts)?.content,
    second.custom.find('origin_down', facts)?.content,
  )
  assert.equal(first.custom.findPage('origin_down')?.content, second.custom.findPage('origin_down')?.content)
  assert.deepEqual([first.failures.length, second.failures.length], [2, 0])
})

test('a rule may match an error that no page may stand for', () => {
  for (const name of ['internal_server_error', 'dns_resolution_failed', 'bad_request'] as const) {
    const custom = new CustomErrors([layer([rule({ expression: `error.name == "${name}"` })])])
    assert.equal(custom.find(name, factsFor(name))?.source, 'account_rule')
  }
})
