import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoizeEach, memoizeLast, memoizeOnce } from '../../src/base/memo.ts'

test('what is made once is made with the first call, and not again', () => {
  let count = 0
  const made = memoizeOnce(() => void count++)
  assert.equal(count, 0)
  for (let i = 0; i < 3; i++) assert.equal(made(), undefined)
  assert.equal(count, 1)
})

test('the last result is given again until another key comes', () => {
  const asked: string[] = []
  const sizeOf = memoizeLast((text: string) => asked.push(text) && text.length)
  assert.deepEqual(['a', 'a', 'bb', 'bb', 'a'].map(sizeOf), [1, 1, 2, 2, 1])
  assert.deepEqual(asked, ['a', 'bb', 'a'])
})

test('a result that is false or undefined is remembered too', () => {
  let count = 0
  const last = memoizeLast((_: string) => void count++)
  const each = memoizeEach((_: object) => void count++)
  const source = {}
  for (let i = 0; i < 3; i++) assert.equal(last('') ?? each(source), undefined)
  assert.equal(count, 2)
})

test('each source has its own result, made with what came first', () => {
  const write = memoizeEach((source: { readonly name: string }, end: string) => source.name + end)
  const [one, other] = [{ name: 'a' }, { name: 'a' }]
  assert.deepEqual([write(one, '1'), write(other, '2'), write(one, '3')], ['a1', 'a2', 'a1'])
})
