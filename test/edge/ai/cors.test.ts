import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Cors } from '../../../src/edge/ai/cors.ts'

test('listed origins are allowed as they were sent, and others learn nothing', () => {
  const cors = new Cors(['https://chat.example', 'app://obsidian.md'])
  for (const origin of ['https://chat.example', 'app://obsidian.md'])
    match(cors.linesFor(origin), new RegExp(`^Access-Control-Allow-Origin: ${origin}\r\n`))
  for (const origin of [null, '', 'null', 'https://chat.example.evil.test', 'http://chat.example']) {
    equal(cors.linesFor(origin), 'Vary: Origin\r\n')
    equal(cors.preflightLines(origin, 'authorization'), '')
  }
})

test('with a star, all responses are the same', () => {
  const cors = new Cors(['*'])
  equal(cors.linesFor('https://a.test'), cors.linesFor(null))
  match(cors.linesFor(null), /^Access-Control-Allow-Origin: \*\r\n/)
  equal(/credentials|Vary/i.test(cors.linesFor(null)), false)
})

test('a preflight allows the fields that it asks for', () => {
  const cors = new Cors(['*'])
  match(
    cors.preflightLines('https://a.test', 'authorization,content-type'),
    /Allow-Headers: authorization,content-type\r\n/,
  )
  equal(cors.preflightLines('https://a.test', null).includes('Allow-Headers'), false)
})
