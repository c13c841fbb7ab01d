// Forms of the pages, and those with the model of an AI call.

import assert from 'node:assert/strict'
import * as calls from '../../../src/ai/parsing/multipart.ts'
import { readForm, signInForms, type Form } from '../../../src/pages/forms/form.ts'
import { boundaryOf, readMultipart } from '../../../src/pages/forms/multipart.ts'
import type { Target } from '../target.ts'

const rules = { ...signInForms, fields: 5, hasLines: true, hasFiles: true }

function assertPrintable(form: Form | null): void {
  for (const [name, value] of form ?? []) {
    assert.notEqual(name, '')
    assert.doesNotMatch(value, /\r\n/)
  }
}

/** The first line is the Content-Type, where there is one, and the rest the body. */
function attempt(input: Buffer): void {
  assertPrintable(readForm(input))
  assertPrintable(readForm(input, rules))
  const end = input.indexOf('\n')
  const type = input.toString('latin1', 0, Math.max(0, end))
  const body = input.subarray(end + 1)
  const boundary = boundaryOf(type)
  if (boundary !== null) readMultipart(body, boundary, rules)
  const boundaryOfCall = calls.boundaryOf(type)
  if (boundaryOfCall === null) return
  const parts = calls.partsOf(body, boundaryOfCall)
  const model = calls.modelInForm(body, boundaryOfCall)
  if (typeof model === 'string') return
  assert.ok(parts !== null)
  assert.equal(body.toString('utf8', model.start, model.end), model.model)
  assert.ok(!model.model.includes(`\r\n--${boundaryOfCall}`))
}

const type = 'multipart/form-data; boundary=b\n'
const disposition = 'Content-Disposition: form-data; name='

export const target: Target = {
  seeds: [
    'a=b&c=d%0D%0Ae&f=+%C3%A9',
    `${type}--b\r\n${disposition}"model"\r\n\r\ngpt\r\n--b\r\n${disposition}"file"; filename="x"\r\nContent-Type: a/b\r\n\r\n\0\xff\r\n--b--\r\n`,
    `multipart/form-data; boundary="a b"\n--a b\r\n${disposition}model\r\n\r\nx\r\n--a b--`,
  ],
  tokens: [
    ...[
      '&',
      '=',
      '+',
      '%0A',
      '%0D%0A',
      '%C3%A9',
      '%00',
      '%',
      '\r\n',
      '\r\n\r\n',
      '\n',
      '--b',
      '--b--',
      '--b\r\n',
      '--',
      type,
      disposition,
    ],
    ...[
      '"model"',
      'model',
      'MODEL',
      '; filename="x"',
      '; filename*=',
      '; name*=',
      '"',
      '\\"',
      '%22',
      'Content-Type: text/plain\r\n',
      'Content-Transfer-Encoding: base64\r\n',
    ],
  ],
  maxLength: 1024,
  covers: ['src/pages/forms/', 'src/ai/parsing/'],
  attempt,
}
