import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isIdempotent } from '../../../src/http1/heads/method.ts'

describe('isIdempotent', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
    test(`lets ${method} be sent again`, () => equal(isIdempotent(method), true))

  for (const method of ['POST', 'PATCH', 'CONNECT', 'LOCK', 'get', 'GETX', ''])
    test(`takes nothing for granted of "${method}"`, () => equal(isIdempotent(method), false))
})
