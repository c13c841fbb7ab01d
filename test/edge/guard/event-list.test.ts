import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventList, eventsOf } from '../../../src/edge/guard/event-list.ts'

test('texts and numbers of JSON stay JSON, and lines that are none stay as they are', () => {
  assert.equal(EventList.ofJson('["a", 1, {"b": null}]')!.write(), '["a",1,{"b":null}]')
  assert.equal(EventList.ofLines('"a"\n{"b": 1}\nno JSON\n').write(), '"a"\n{"b":1}\nno JSON\n')
})

test('a byte order mark is no part of the first event', () => {
  assert.equal(eventsOf('\ufeff[{"a": 1}]', 'json')!.write(), '[{"a":1}]')
  assert.equal(eventsOf('\ufeff{"a": 1}\n[2]', 'lines')!.write(), '{"a":1}\n[2]')
  assert.equal(eventsOf('\ufeff{"a": 1}', 'json'), null)
})
