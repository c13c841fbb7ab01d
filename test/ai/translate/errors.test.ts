import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { messagesError, openAiError } from '../../../src/ai/translate/errors.ts'

function toMessages(body: unknown, status = 500) {
  const text = messagesError(JSON.stringify(body), status)
  return text && JSON.parse(text)
}

test('an error of OpenAI gets the type that Messages has for it', () => {
  const error = (type: string | null, code: string | null) => ({ error: { message: 'No.', type, code } })
  const cases = [
    [error('invalid_request_error', 'invalid_api_key'), 401, 'authentication_error'],
    [error('invalid_request_error', 'model_not_found'), 404, 'not_found_error'],
    [error('requests', 'rate_limit_exceeded'), 429, 'rate_limit_error'],
    [error('insufficient_quota', 'insufficient_quota'), 429, 'billing_error'],
    [error('invalid_request_error', null), 400, 'invalid_request_error'],
    [error('BadRequestError', null), 400, 'invalid_request_error'],
    [error(null, null), 418, 'api_error'],
    [{ error: 'No.' }, 404, 'not_found_error'],
    [{ object: 'error', message: 'No.' }, 503, 'overloaded_error'],
    [{ detail: 'No.' }, 403, 'permission_error'],
  ] as const
  for (const [body, status, type] of cases)
    deepEqual(toMessages(body, status), { type: 'error', error: { type, message: 'No.' } })
})

test('an error of Messages keeps its type', () => {
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' }
  deepEqual(JSON.parse(openAiError(JSON.stringify(body))!), {
    error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null },
  })
})

test('what has no message is no error', () => {
  for (const body of [null, [], 'No.', {}, { error: {} }, { error: { message: 1 } }, { detail: [] }])
    equal(toMessages(body), null)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), text => {
      for (const error of [messagesError(text, 500), openAiError(text)]) if (error !== null) JSON.parse(error)
    }),
  )
})
