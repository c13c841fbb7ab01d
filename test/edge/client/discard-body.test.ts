import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discardBody } from '../../../src/edge/client/discard-body.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

test("a small body that is arriving is read to its end, within the client's time limit", t => {
  const steps = stepsOver(t, [])
  for (const length of [1, 65_536]) {
    const x = steps.exchange(request('POST /', `Content-Length: ${length}`))
    const said: string[] = []
    assert.equal(
      discardBody(x, () => said.push('then')),
      true,
    )
    assert.deepEqual(x.seen.asked, ['readBody'])
    assert.equal(x.handler!.deadline, steps.plane.coarseNow + 2_000)
    x.handler!.bodyEnd()
    assert.deepEqual([said, x.handler], [['then'], null])
  }
  const slow = steps.exchange(request('POST /', 'Content-Length: 1'))
  const said: string[] = []
  discardBody(slow, () => said.push('then'))
  slow.handler!.expire()
  assert.deepEqual([said, slow.seen.asked], [['then'], ['readBody', 'pauseBody']])
})

test('a large body, one of unknown length, and one that waits for 100 Continue are not read', t => {
  const steps = stepsOver(t, [])
  for (const fields of [
    ['Content-Length: 65537'],
    ['Content-Length: 0'],
    ['Transfer-Encoding: chunked'],
    ['Content-Length: 1', 'Expect: 100-continue'],
  ]) {
    const x = steps.exchange(request('POST /', ...fields))
    assert.equal(
      discardBody(x, () => assert.fail()),
      false,
      fields.join(),
    )
    assert.deepEqual(x.seen.asked, [])
  }
})
