import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { totalIn } from '../../../bench/interleaved/callgrind.ts'

test('the instructions of a dump are its total', () => {
  equal(totalIn('events: Ir\nsummary: 7\n\nfn=(1) main\n1 7\n\ntotals: 354727693\n'), 354_727_693)
  throws(() => totalIn('events: Ir\n'), /no total/)
})
