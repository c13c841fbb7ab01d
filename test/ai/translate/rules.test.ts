import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Findings, Place } from '../../../src/ai/translate/place.ts'
import {
  anything,
  list,
  map,
  number,
  off,
  type Rule,
  record,
  text,
  textOr,
  truth,
  variants,
  whole,
  words,
} from '../../../src/ai/translate/rules.ts'

const direction = { from: 'Here', to: 'There' }

function read<T>(rule: Rule<T>, value: unknown) {
  const findings = new Findings(direction)
  return { value: rule(value, new Place(findings)), faults: findings.faults, count: findings.count }
}

const messagesOf = (rule: Rule<unknown>, value: unknown) =>
  read(rule, value).faults.map(({ message }) => message)

test('a fault points to its member and names it', () => {
  const rule = record({ list: list(record({ 'a/b~c': truth }, {})) }, {})
  deepEqual(read(rule, { list: [{ 'a/b~c': true }, { 'a/b~c': 1 }] }).faults, [
    { code: 10001, message: 'list[1].a/b~c must be true or false', pointer: '/list/1/a~1b~0c' },
  ])
})

test('a fault of the whole body has the empty pointer', () => {
  deepEqual(read(record({}, {}), []).faults, [
    { code: 10001, message: 'the body must be an object', pointer: '' },
  ])
})

test('every fault is reported, not only the first', () => {
  deepEqual(messagesOf(record({ a: text, b: truth }, { c: whole(1) }), { b: 1, c: 0.5, d: 1 }), [
    'd is unknown in Here',
    'a is missing',
    'b must be true or false',
    'c must be a whole number of at least 1',
  ])
})

test('of thousands of faults a hundred are reported', () => {
  const { faults, count } = read(list(text), Array(5000).fill(1))
  deepEqual([faults.length, count], [100, 5000])
})

test('a long name is shortened in the message and in the pointer', () => {
  const key = 'k'.repeat(1000)
  const [fault] = read(record({}, {}), { [key]: 1 }).faults
  equal(fault?.message, `${'k'.repeat(64)}… is unknown in Here`)
  equal(fault?.pointer, `/${'k'.repeat(64)}…`)
})

test('null counts as absent', () => {
  deepEqual(read(record({}, { a: text }), { a: null }), { value: {}, faults: [], count: 0 })
  deepEqual(messagesOf(record({ a: text }, {}), { a: null }), ['a is missing'])
})

test('members that every object inherits are unknown', () => {
  const body = JSON.parse('{"__proto__": 1, "constructor": 2}')
  deepEqual(messagesOf(record({}, {}), body), [
    '__proto__ is unknown in Here',
    'constructor is unknown in Here',
  ])
  deepEqual(messagesOf(variants('type', {}), { type: 'constructor' }).length, 1)
  deepEqual(messagesOf(words({}), 'constructor').length, 1)
})

test('a variant is chosen by its member, or else the usual one', () => {
  const table = { a: record({ type: text, x: text }, {}), b: record({}, { y: truth }) }
  deepEqual(read(variants('type', table), { type: 'a', x: '1' }).value, { type: 'a', x: '1' })
  deepEqual(read(variants('type', table, 'b'), { y: true }).value, { y: true })
  deepEqual(messagesOf(variants('type', table), {}), ['type is missing'])
  deepEqual(messagesOf(variants('type', table), { type: 3 }), ['type must be a string'])
  deepEqual(messagesOf(variants('type', table), { type: 'c' }), [
    'type "c" cannot be translated to There; use a, b',
  ])
})

test('a value that switches a member off passes, and has no effect', () => {
  const rule = off(false, 0, [], ['text'], {})
  for (const value of [false, 0, [], ['text'], {}]) {
    deepEqual(read(rule, value), { value: undefined, faults: [], count: 0 })
  }
  for (const value of [true, 1, '', [0], ['audio'], ['text', 'audio'], { a: 1 }]) {
    equal(read(rule, value).count, 1)
  }
  deepEqual(messagesOf(record({}, { seed: off() }), { seed: 4 }), [
    'seed has no equivalent in There: leave it out',
  ])
})

test('numbers keep to their range, both ends included', () => {
  const rule = number(0, 1, ': so it is')
  deepEqual([read(rule, 0).value, read(rule, 1).value], [0, 1])
  for (const value of [-0.1, 1.1, Number.NaN, '0.5']) {
    deepEqual(messagesOf(rule, value), ['the body must be a number from 0 to 1: so it is'])
  }
})

test('a string is read as it is, anything else by its rule', () => {
  const rule = textOr(list(text))
  deepEqual([read(rule, 'a').value, read(rule, ['a']).value], ['a', ['a']])
  deepEqual(messagesOf(rule, 1), ['the body must be a list'])
})

test('a value that was read with a fault is not converted', () => {
  let calls = 0
  const rule = map(record({ a: text }, {}), ({ a }) => {
    calls++
    return a.length
  })
  equal(read(rule, { a: 'abc' }).value, 3)
  equal(read(rule, { a: 1 }).value, undefined)
  equal(calls, 1)
})

test('no value makes a rule throw', () => {
  const part = variants(
    'type',
    { text: record({ type: text, text }, {}), n: record({ n: whole(0) }, {}) },
    'n',
  )
  const rule = record({ a: list(part) }, { b: words({ x: 1 }), c: off([], {}), d: textOr(part), e: anything })
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.record({ a: fc.jsonValue(), d: fc.jsonValue() })), value => {
      const { faults, count } = read(rule, value)
      ok(count >= faults.length)
      for (const { pointer } of faults) ok(pointer === '' || pointer?.startsWith('/'))
    }),
  )
})
